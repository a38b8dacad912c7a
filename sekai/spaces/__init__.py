"""Spaces: what observations and actions look like, drawn from and checked one at a time or as whole batches."""

from sekai.spaces.box import Box
from sekai.spaces.dict import Dict
from sekai.spaces.discrete import Discrete
from sekai.spaces.masked_box import MaskedBox
from sekai.spaces.multi_binary import MultiBinary
from sekai.spaces.multi_discrete import MultiDiscrete
from sekai.spaces.sequence import Sequence
from sekai.spaces.space import Space
from sekai.spaces.tuple import Tuple
from sekai.spaces.utils import (
    batch_space,
    concatenate,
    flatdim,
    flatten,
    flatten_space,
    iterate,
    register_space_type,
    space_from_jsonable,
    unflatten,
    zero_sample,
)

for _cls in (Box, Dict, Discrete, MaskedBox, MultiBinary, MultiDiscrete, Sequence, Tuple):
    register_space_type(_cls.__name__, _cls)

__all__ = [
    "Box",
    "Dict",
    "Discrete",
    "MaskedBox",
    "MultiBinary",
    "MultiDiscrete",
    "Sequence",
    "Space",
    "Tuple",
    "batch_space",
    "concatenate",
    "flatdim",
    "flatten",
    "flatten_space",
    "iterate",
    "register_space_type",
    "space_from_jsonable",
    "unflatten",
    "zero_sample",
]
