"""The functions on spaces, under one name: `sekai.space_utils`."""

from sekai.spaces.batching import batch_space, concatenate, iterate
from sekai.spaces.flattening import flatdim, flatten, flatten_space, unflatten
from sekai.spaces.jsonable import register_space_type, space_from_jsonable
from sekai.spaces.zero import zero_sample

__all__ = [
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
