"""Everything that `sekai` exports, for `from sekai.sekai import Env`."""

from typing import TYPE_CHECKING

import sekai

if TYPE_CHECKING:
    from sekai import *  # noqa: F403
else:
    __all__ = sekai.__all__
    __getattr__ = sekai.__getattr__
