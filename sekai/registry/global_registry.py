"""The registry behind the functions of `sekai`."""

from __future__ import annotations

import sys

from sekai.registry.env_registry import EnvRegistry

registry = EnvRegistry(plugin_group="sekai.envs")

register = registry.register
deregister = registry.deregister
register_namespace = registry.register_namespace
spec = registry.spec
all_specs = registry.all_specs
make = registry.make
make_vec = registry.make_vec


def pprint_registry() -> None:
    """Print the ids of all environments by namespace."""
    sys.stdout.write(registry.pprint() + "\n")
