"""Batches of environments."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sekai.vector.async_vec_env import AsyncVecEnv as AsyncVecEnv
    from sekai.vector.kernel import KernelVecEnv as KernelVecEnv
    from sekai.vector.kernel_env import KernelEnv as KernelEnv
    from sekai.vector.native import NativeVecEnv as NativeVecEnv
    from sekai.vector.native import shared as shared
    from sekai.vector.params import PerLane as PerLane
    from sekai.vector.proc_vec_env import ProcVecEnv as ProcVecEnv
    from sekai.vector.result import VecResetResult as VecResetResult
    from sekai.vector.result import VecStepResult as VecStepResult
    from sekai.vector.result import stack_infos as stack_infos
    from sekai.vector.seeding import lane_seeds as lane_seeds
    from sekai.vector.sync_vec_env import SyncVecEnv as SyncVecEnv
    from sekai.vector.vec_env import VecEnv as VecEnv
else:
    from sekai._lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        objects={
            "sekai.vector.async_vec_env": "AsyncVecEnv",
            "sekai.vector.kernel": "KernelVecEnv",
            "sekai.vector.kernel_env": "KernelEnv",
            "sekai.vector.native": "NativeVecEnv shared",
            "sekai.vector.params": "PerLane",
            "sekai.vector.proc_vec_env": "ProcVecEnv",
            "sekai.vector.result": "VecResetResult VecStepResult stack_infos",
            "sekai.vector.seeding": "lane_seeds",
            "sekai.vector.sync_vec_env": "SyncVecEnv",
            "sekai.vector.vec_env": "VecEnv",
        },
    )
