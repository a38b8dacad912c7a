"""What draws environments: anything with `render(env)` and `close()`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from typing_extensions import Self

RGBArray: TypeAlias = NDArray[np.uint8]
ANSIString: TypeAlias = str
RenderFrame: TypeAlias = RGBArray | ANSIString


@runtime_checkable
class Renderer(Protocol):
    """Draws environments; it never changes them, nor draws from their random streams."""

    def render(self, env: Any) -> RenderFrame:
        """Return a picture of an environment as it is now.

        Returns:
            A fresh uint8 array `(height, width, 3)`, the first row on top, of the same size in each call; or text.
        """

    def close(self) -> None:
        """Release what the renderer holds."""


class BaseRenderer:
    """A renderer that needs no closing; a subclass defines `render`. In a `with` block it is closed at the end."""

    def render(self, env: Any) -> RenderFrame:
        """Return a picture of an environment as it is now."""
        raise NotImplementedError(f"{type(self).__name__} does not define render()")

    def close(self) -> None:
        """Release what the renderer holds; nothing by default."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()
