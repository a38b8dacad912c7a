"""Histories of several assets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sekai.finance.arguments import Floats, as_array, count, numbers
from sekai.finance.frozen import Frozen, read_only
from sekai.finance.times import Time, Timestamps, as_timestamps, row_of, text_of, years_between
from sekai.kernels import price_paths

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["MarketData", "Time", "row_of"]


class MarketData(Frozen):
    """A history of T rows and N assets, which never changes.

    Arrays are copied, and read-only. NaN stands for what is missing: an asset without a price is not listed. Everything
    in a row is known at its time; nothing here looks ahead.

    Args:
        prices: Positive numbers, `(T, N)`, or `(T,)` for one asset; None if they are among the fields. Of a pandas
            object only the values are taken; see `from_pandas`.
        fields: Further arrays `(T, N)` by name, such as "volume".
        timestamps: T of them, in ascending order: numbers, datetime64, dates, or strings in ISO 8601. By default rows
            are numbered.
        assets: N different ids; by default "asset_0", and so on.
        exogenous: Series that belong to no asset, `(T,)` or `(T, k)`, by name.
        price_field: The field that prices are, and its name if they are given as `prices`.
        warmup: So many rows at the beginning are there to be looked back at only: nothing is decided in them.

    Raises:
        TypeError: An argument is of the wrong type, or something is no number.
        ValueError: A shape or value is wrong: fewer than 2 rows, a price that is not positive, an infinity, timestamps
            that do not increase, and so on.
    """

    price_field: str
    warmup: int
    _fields: dict[str, Floats]
    _exogenous: dict[str, Floats]
    _timestamps: Timestamps
    _assets: tuple[Any, ...]

    def __init__(
        self,
        prices: Any = None,
        *,
        fields: Mapping[str, Any] | None = None,
        timestamps: Any = None,
        assets: Iterable[Any] | None = None,
        exogenous: Mapping[str, Any] | None = None,
        price_field: str = "close",
        warmup: int = 0,
    ) -> None:
        given = _by_name("fields", fields)
        if (prices is None) == (price_field not in given):
            found = "neither" if prices is None else "both"
            raise ValueError(f"prices are given either as prices= or as fields[{price_field!r}], got {found}")
        names = {f"fields[{name!r}]": name for name in given}
        arrays = {name: _panel(label, given[name]) for label, name in names.items()}
        if prices is not None:
            arrays = {price_field: _panel("prices", prices), **arrays}
            names = {"prices": price_field, **names}
        label = next(label for label, name in names.items() if name == price_field)
        shape = arrays[price_field].shape
        if shape[0] < 2 or shape[1] < 1:
            raise ValueError(f"{label} must have at least 2 rows and an asset, got shape {shape}")
        ids = tuple(f"asset_{j}" for j in range(shape[1])) if assets is None else _ids("assets", assets, shape[1])
        values = {name: _field(label, arrays[name], shape, ids) for label, name in names.items()}
        _check_positive(label, values[price_field], ids)
        rows = shape[0]
        warmup = count("warmup", warmup)
        if warmup > rows:
            raise ValueError(f"warmup must be at most the number of rows, {rows}, got {warmup}")
        vars(self).update(
            price_field=price_field,
            warmup=warmup,
            _fields=values,
            _exogenous={
                name: _series(f"exogenous[{name!r}]", series, rows)
                for name, series in _by_name("exogenous", exogenous).items()
            },
            _timestamps=as_timestamps("timestamps", np.arange(rows) if timestamps is None else timestamps, rows),
            _assets=ids,
        )

    # ---- constructors from pandas ------------------------------------------------------------

    @classmethod
    def from_pandas(
        cls,
        prices: Any,
        *,
        fields: Mapping[str, Any] | None = None,
        exogenous: Any = None,
        price_field: str = "close",
    ) -> Self:
        """Return the history that pandas objects hold.

        Args:
            prices: DataFrame whose index holds the timestamps and whose columns are the assets; their ids are strings.
            fields: DataFrames by name. Only rows and columns of `prices` are taken; what is not there is missing.
            exogenous: DataFrame, whose columns are the series, or Series and DataFrames by name; rows as in `fields`.
            price_field: As for the class.

        Raises:
            AttributeError: `prices` is no DataFrame.
            TypeError, ValueError: As for the class; the index has a time zone.
        """
        if not hasattr(prices, "columns"):
            raise AttributeError(
                f"prices must be a DataFrame with a column per asset, got a {type(prices).__name__}; "
                "of a Series, take series.to_frame()"
            )
        index, columns = prices.index, prices.columns
        timestamps = as_timestamps("the index of prices", index, len(index))
        if hasattr(exogenous, "columns"):
            exogenous = {str(column): exogenous[column] for column in exogenous.columns}
        return cls(
            _values(prices),
            fields={
                name: _values(frame.reindex(index=index, columns=columns))
                for name, frame in _by_name("fields", fields).items()
            },
            timestamps=timestamps,
            assets=[str(column) for column in columns],
            exogenous={
                name: _values(series.reindex(index)) for name, series in _by_name("exogenous", exogenous).items()
            },
            price_field=price_field,
        )

    @classmethod
    def from_long(
        cls, frame: Any, *, time: str = "date", asset: str = "symbol", price: str = "close", fields: Iterable[str] = ()
    ) -> Self:
        """Return the history that a DataFrame with a row per time and asset holds.

        Times and assets are sorted. What has no row is missing; of several rows the last one counts.

        Args:
            frame: A pandas DataFrame.
            time: Column of timestamps.
            asset: Column of ids of assets.
            price: Column of prices; it is the `price_field`.
            fields: Columns of further fields.

        Raises:
            KeyError: There is no such column.
            TypeError, ValueError: As for the class; a time or an asset is missing.
        """
        if isinstance(fields, str):
            raise TypeError(f"fields must be a list of columns, got {fields!r}")
        keys = [time, asset]
        missing = frame[keys].isna().to_numpy()
        if missing.any():
            row, column = np.argwhere(missing)[0]
            raise ValueError(f"column {keys[column]!r} must be complete, but its row {row} is missing")
        last = frame.drop_duplicates(keys, keep="last")
        tables = {name: last.pivot(index=time, columns=asset, values=name) for name in (price, *fields)}
        return cls.from_pandas(tables[price], fields={name: tables[name] for name in fields}, price_field=price)

    # ---- what there is -----------------------------------------------------------------------

    @property
    def prices(self) -> Floats:
        """The prices, float64 `(T, N)`."""
        return self._fields[self.price_field]

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Where there is a price, bool `(T, N)`."""
        return np.isfinite(self.prices)

    @property
    def fields(self) -> dict[str, Floats]:
        """All fields by name, prices included, float64 `(T, N)`."""
        return dict(self._fields)

    @property
    def exogenous(self) -> dict[str, Floats]:
        """The series that belong to no asset by name, float64 `(T,)` or `(T, k)`."""
        return dict(self._exogenous)

    @property
    def timestamps(self) -> Timestamps:
        """When the rows are from, `(T,)`."""
        return self._timestamps

    @property
    def assets(self) -> tuple[Any, ...]:
        """Ids of the assets."""
        return self._assets

    @property
    def n_steps(self) -> int:
        """Number of rows, T."""
        return len(self._timestamps)

    @property
    def n_assets(self) -> int:
        """Number of assets, N."""
        return len(self._assets)

    @property
    def is_datetime(self) -> bool:
        """Whether timestamps are datetime64."""
        return self._timestamps.dtype.kind == "M"

    @property
    def periods_per_year(self) -> float | None:
        """How many rows a year has on average; None if timestamps are numbers."""
        if not self.is_datetime:
            return None
        return (self.n_steps - 1) / years_between(self._timestamps[0], self._timestamps[-1])

    def field(self, name: str) -> Floats:
        """Return a field, float64 `(T, N)`.

        Raises:
            KeyError: There is none of that name.
        """
        return _found("field", name, self._fields)

    def exogenous_series(self, name: str) -> Floats:
        """Return a series that belongs to no asset, float64 `(T,)` or `(T, k)`.

        Raises:
            KeyError: There is none of that name.
        """
        return _found("exogenous series", name, self._exogenous)

    def exogenous_width(self, name: str) -> int:
        """Return how many numbers a row of such a series holds.

        Raises:
            KeyError: There is none of that name.
        """
        series = self.exogenous_series(name)
        return 1 if series.ndim == 1 else series.shape[1]

    def log_returns(self) -> Floats:
        """Return log returns from the row before, float64 `(T, N)`; NaN in row 0, and where one price is missing."""
        returns = np.full(self.prices.shape, np.nan)
        price_paths.history_returns(np.array(self.prices), returns[1:])
        return returns

    def index_of(self, when: Any, *, side: str = "left") -> int:
        """Return the row that a point in time stands for.

        Args:
            when: An int is a row itself, counted from the end if it is negative, and not checked against their number.
                A float where timestamps are numbers, or a string in ISO 8601, date, datetime or datetime64 where they
                are dates, is the time by which the row is sought, as is what a `Time` holds.
            side: "left" for the first row not before that time, "right" for the first one after it.

        Returns:
            The row; T if all are earlier.

        Raises:
            TypeError: `when` is no point in time.
            ValueError: It is a date where timestamps are numbers, or the reverse; NaN, infinite, NaT or with a time
                zone.
        """
        return row_of(self._timestamps, when, side)

    # ---- parts -------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.n_steps

    def __getitem__(self, rows: slice) -> Self:
        """Return the rows of a slice, at least 2.

        Raises:
            TypeError: It is no slice.
            ValueError: Too few rows are left, or their order is reversed.
        """
        if not isinstance(rows, slice):
            raise TypeError(f"rows are taken by slices, such as data[10:20], got {rows!r}")
        kept = np.arange(self.n_steps)[rows]
        return self._replace(
            fields={name: array[rows] for name, array in self._fields.items()},
            timestamps=self._timestamps[rows],
            exogenous={name: array[rows] for name, array in self._exogenous.items()},
            warmup=int((kept < self.warmup).sum()),
        )

    def between(self, start: Any = None, end: Any = None) -> Self:
        """Return the rows from one point in time to before another; None for all there are.

        Args:
            start: As for `index_of`.
            end: The same; its row is left out.

        Raises:
            TypeError, ValueError: As for `index_of`; fewer than 2 rows are left.
        """
        first = 0 if start is None else max(self.index_of(start), 0)
        return self[first : self.n_steps if end is None else max(self.index_of(end), 0)]

    def select(self, ids: Iterable[Any]) -> Self:
        """Return the history of some assets, in this order.

        Raises:
            KeyError: There is no such asset.
            ValueError: There are duplicates, or none.
        """
        columns = {asset: j for j, asset in enumerate(self._assets)}
        ids = tuple(ids)
        unknown = [asset for asset in ids if asset not in columns]
        if unknown:
            raise KeyError(f"there is no asset {unknown[0]!r}; there are {list(self._assets)}")
        chosen = [columns[asset] for asset in ids]
        return self._replace(fields={name: array[:, chosen] for name, array in self._fields.items()}, assets=ids)

    def with_fields(self, **arrays: Any) -> Self:
        """Return the same history with fields added or replaced."""
        return self._replace(fields={**self._fields, **arrays})

    def with_exogenous(self, **arrays: Any) -> Self:
        """Return the same history with series added or replaced that belong to no asset."""
        return self._replace(exogenous={**self._exogenous, **arrays})

    def split(self, *boundaries: Any, embargo: int = 0, history: int = 0) -> list[Self]:
        """Return the parts before, between and after boundaries.

        Args:
            *boundaries: In ascending order: fractions of the rows, as floats between 0 and 1, or what `index_of` takes.
                Numeric timestamps are given as `Time`.
            embargo: So many rows after each boundary are left out, so that what was known before it does not help.
            history: So many rows before each later part are put in front of it, as its warm-up.

        Raises:
            TypeError: A count is not an integer, or a boundary no point in time.
            ValueError: A boundary lies outside or not after the one before it, a count is negative, or fewer than 2
                rows of a part are left.
        """
        embargo, history = count("embargo", embargo), count("history", history)
        if not boundaries:
            raise ValueError("split needs at least one boundary")
        cuts = [self._cut(boundary) for boundary in boundaries]
        edges = [0, *cuts, self.n_steps]
        if any(later <= earlier for earlier, later in pairwise(edges)):
            raise ValueError(f"boundaries must increase within {self.n_steps} rows, got {boundaries}: rows {cuts}")
        starts = [0, *(cut + embargo for cut in cuts)]
        for start, end in zip(starts, edges[1:], strict=True):
            if end - start < 2:
                raise ValueError(f"every part must have 2 rows, but from row {start} to row {end} there are fewer")
        return [self._part(start, end, history) for start, end in zip(starts, edges[1:], strict=True)]

    def walk_forward(
        self,
        train_size: int,
        test_size: int,
        *,
        step: int | None = None,
        embargo: int = 0,
        history: int = 0,
        expanding: bool = False,
    ) -> Iterator[tuple[Self, Self]]:
        """Generate pairs of a part to train on and a later one to test on, as long as there are rows.

        Args:
            train_size: Rows of the first one, at least 2.
            test_size: Rows of the second one, at least 2.
            step: By how many rows a pair is later than the one before; None for `test_size`.
            embargo: So many rows between the two are left out.
            history: So many rows before the second are put in front of it, as its warm-up.
            expanding: Whether to train on all rows from the first one on.

        Raises:
            TypeError: A count is not an integer.
            ValueError: One is too small. Both are raised when the first pair is asked for.
        """
        train_size, test_size = count("train_size", train_size, 2), count("test_size", test_size, 2)
        step = test_size if step is None else count("step", step, 1)
        embargo, history = count("embargo", embargo), count("history", history)
        for start in range(0, self.n_steps, step):
            train_end = start + train_size
            test_end = train_end + embargo + test_size
            if test_end > self.n_steps:
                return
            train = self[0 if expanding else start : train_end]
            yield train, self._part(train_end + embargo, test_end, history)

    def __repr__(self) -> str:
        parts = [f"T={self.n_steps}, N={self.n_assets}, fields={sorted(self._fields)}"]
        if self._exogenous:
            parts.append(f"exogenous={sorted(self._exogenous)}")
        if self.warmup:
            parts.append(f"warmup={self.warmup}")
        parts.append(f"{text_of(self._timestamps[0])} .. {text_of(self._timestamps[-1])}")
        return f"MarketData({', '.join(parts)})"

    def _replace(self, **changes: Any) -> Self:
        """The same history with other arguments."""
        same = {
            "fields": self._fields,
            "timestamps": self._timestamps,
            "assets": self._assets,
            "exogenous": self._exogenous,
            "price_field": self.price_field,
            "warmup": self.warmup,
        }
        return type(self)(**{**same, **changes})

    def _part(self, start: int, end: int, history: int) -> Self:
        """Rows start to end - 1, and up to `history` rows before them, as a warm-up."""
        first = max(start - history, 0)
        part = self[first:end]
        return part._replace(warmup=max(part.warmup, start - first))

    def _cut(self, boundary: Any) -> int:
        """The row of a boundary of `split`."""
        if not isinstance(boundary, (float, np.floating)):
            return self.index_of(boundary)
        if not 0.0 < boundary < 1.0:
            raise ValueError(f"a boundary that is a float must be a fraction between 0 and 1, got {boundary!r}")
        return round(float(boundary) * self.n_steps)


def _by_name(argument: str, arrays: Any) -> dict[str, Any]:
    """Return arrays by name as a dict."""
    if arrays is None:
        return {}
    if not isinstance(arrays, Mapping):
        raise TypeError(f"{argument} must be a mapping of names to arrays, got {arrays!r}")
    for name in arrays:
        if not isinstance(name, str):
            raise TypeError(f"{argument} must have names that are strings, got {name!r}")
    return dict(arrays)


def _found(what: str, name: str, arrays: dict[str, Floats]) -> Floats:
    if name not in arrays:
        raise KeyError(f"there is no {what} {name!r}; there are {sorted(arrays)}")
    return arrays[name]


def _ids(argument: str, ids: Iterable[Any], n_assets: int) -> tuple[Any, ...]:
    """Return the ids of assets."""
    if isinstance(ids, str):
        raise TypeError(f"{argument} must be a list of ids, got {ids!r}")
    found = tuple(ids)
    if len(found) != n_assets:
        raise ValueError(f"{argument} must hold {n_assets} ids, got {len(found)}")
    seen: set[Any] = set()
    for asset in found:
        if asset in seen:
            raise ValueError(f"{argument} must differ, got {asset!r} more than once")
        seen.add(asset)
    return found


def _panel(label: str, values: Any) -> NDArray[Any]:
    """Return an array `(T, N)` of whatever type."""
    array = as_array(label, values)
    if array.ndim not in (1, 2):
        raise ValueError(f"{label} must have shape (T,) or (T, N), got {array.shape}")
    return array[:, None] if array.ndim == 1 else array


def _field(label: str, array: NDArray[Any], shape: tuple[int, ...], ids: tuple[Any, ...]) -> Floats:
    """Return a field as read-only float64 `(T, N)`."""
    if array.shape != shape:
        raise ValueError(f"{label} must have the shape of prices, {shape}, got {array.shape}")

    def place(index: tuple[int, ...]) -> str:
        return f"row {index[0]}, asset {ids[index[1]]!r}"

    values = numbers(label, array, place)
    infinite = np.argwhere(np.isinf(values))
    if len(infinite):
        index = tuple(infinite[0])
        raise ValueError(f"{label}: {place(index)} is {values[index]}; what is missing is NaN")
    return read_only(values)


def _check_positive(label: str, prices: Floats, ids: tuple[Any, ...]) -> None:
    bad = np.argwhere(prices <= 0.0)
    if len(bad):
        row, column = bad[0]
        raise ValueError(f"{label}: row {row}, asset {ids[column]!r} is {prices[row, column]}; prices must be positive")


def _series(label: str, values: Any, n_steps: int) -> Floats:
    """Return a series that belongs to no asset as read-only float64 `(T,)` or `(T, k)`."""
    series = numbers(label, values, lambda index: f"row {', column '.join(map(str, index))}")
    if series.ndim not in (1, 2) or len(series) != n_steps or series.size == 0:
        raise ValueError(f"{label} must have shape ({n_steps},) or ({n_steps}, k), got {series.shape}")
    infinite = np.argwhere(np.isinf(series))
    if len(infinite):
        raise ValueError(f"{label}: row {infinite[0][0]} is infinite; what is missing is NaN")
    return read_only(series)


def _values(frame: Any) -> NDArray[Any]:
    """Values of a pandas object; None for what is missing where pandas has an NA of its own."""
    array: NDArray[Any] = frame.to_numpy()
    return frame.astype(object).where(frame.notna(), None).to_numpy() if array.dtype == object else array
