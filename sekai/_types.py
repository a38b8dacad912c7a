"""Type aliases and type variables that the whole library shares."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

SeedType: TypeAlias = int | Generator | None
InfoDict: TypeAlias = dict[str, Any]
RewardType: TypeAlias = float
RNGType: TypeAlias = Generator
RenderFrame: TypeAlias = NDArray[np.uint8] | str

T = TypeVar("T")
ObsType = TypeVar("ObsType")
ActType = TypeVar("ActType")
WObsType = TypeVar("WObsType")
WActType = TypeVar("WActType")
AgentID = TypeVar("AgentID")
