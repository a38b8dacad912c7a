"""Snapshots of lanes that are single environments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sekai.spaces import Space

VERSION = 1


@dataclass(frozen=True, eq=False)
class EnvSnapshot:
    """What `get_state` of a batch of single environments returns. It can be pickled.

    Attributes:
        version: Of the layout.
        observation_space: Of one lane.
        action_space: Of one lane.
        lanes: The pickled environments, with where their episodes stand.
    """

    version: int
    observation_space: Space[Any]
    action_space: Space[Any]
    lanes: tuple[bytes, ...]

    def check_fits(self, num_lanes: int, observation_space: Space[Any], action_space: Space[Any]) -> None:
        """Check that these lanes may take the place of as many others.

        Raises:
            ValueError: They are of another version, number or space; says which.
        """
        mine = {
            "version": self.version,
            "number of lanes": len(self.lanes),
            "observation_space": self.observation_space,
            "action_space": self.action_space,
        }
        theirs = [VERSION, num_lanes, observation_space, action_space]
        for (name, own), other in zip(mine.items(), theirs, strict=True):
            if own != other:
                raise ValueError(f"the snapshot does not fit: its {name} is {own!r}, the batch's {other!r}")
