"""Make environments by id."""

from sekai.registry import builtin as _builtin  # noqa: F401 -- registers the built-in environments
from sekai.registry.env_registry import EnvRegistry
from sekai.registry.env_spec import EnvSpec, WrapperSpec
from sekai.registry.global_registry import (
    all_specs,
    deregister,
    make,
    make_vec,
    pprint_registry,
    register,
    register_namespace,
    spec,
)

__all__ = [
    "EnvRegistry",
    "EnvSpec",
    "WrapperSpec",
    "all_specs",
    "deregister",
    "make",
    "make_vec",
    "pprint_registry",
    "register",
    "register_namespace",
    "spec",
]
