"""The order of episodes."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sekai.rollouts.ending import in_order

STEPS = 6


@given(
    st.lists(st.lists(st.tuples(st.integers(0, STEPS - 1), st.integers(0, 3)), max_size=9), max_size=4), st.booleans()
)
@settings(deadline=None)
def test_episodes_are_ordered_by_step_and_lane(ranges, keeps_finals):
    """Each range of lanes comes with its episodes ordered by step and lane."""
    found, rows = [], []
    for k, pairs in enumerate(ranges):
        ends = sorted({(t, 4 * k + lane) for t, lane in pairs})
        part = [(float(t + lane), lane, t, 10 * t + lane, (t + lane) % 4) for t, lane in ends]
        returns, data = np.array([row[0] for row in part], float), np.array([row[1:] for row in part], np.int64)
        finals = {"x": np.array([[row[0], -row[0]] for row in part if keeps_finals], np.float32).reshape(-1, 2)}
        found.append((returns, np.ascontiguousarray(data.reshape(-1, 4).T), finals))
        rows += part
    rows.sort(key=lambda row: (row[2], row[1]))
    got = in_order(found, STEPS, {"x": np.empty((0, 2), np.float32)})
    columns = [list(column) for column in zip(*rows, strict=True)] or [[]] * 5
    returns, lanes, steps, lengths, endings = columns
    assert got.returns.tolist() == returns
    assert (got.lanes.tolist(), got.end_steps.tolist(), got.lengths.tolist()) == (lanes, steps, lengths)
    assert got.terminated.tolist() == [ending in (1, 3) for ending in endings]
    assert got.truncated.tolist() == [ending in (2, 3) for ending in endings]
    finals = got.final_observations["x"]
    assert finals.dtype == np.float32
    assert finals.tolist() == [[total, -total] for total in returns if keeps_finals]
