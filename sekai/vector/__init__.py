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
    from sekai.vector.result import GroupStepResult as GroupStepResult
    from sekai.vector.result import VecResetResult as VecResetResult
    from sekai.vector.result import VecStepResult as VecStepResult
    from sekai.vector.result import stack_infos as stack_infos
    from sekai.vector.seeding import lane_seeds as lane_seeds
    from sekai.vector.sync_vec_env import SyncVecEnv as SyncVecEnv
    from sekai.vector.vec_env import VecEnv as VecEnv
    from sekai.vector.vec_wrapper import VecActionWrapper as VecActionWrapper
    from sekai.vector.vec_wrapper import VecObservationWrapper as VecObservationWrapper
    from sekai.vector.vec_wrapper import VecRewardWrapper as VecRewardWrapper
    from sekai.vector.vec_wrapper import VecWrapper as VecWrapper
    from sekai.vector.wrappers import VecActionMaskObservation as VecActionMaskObservation
    from sekai.vector.wrappers import VecActionRepeat as VecActionRepeat
    from sekai.vector.wrappers import VecClipAction as VecClipAction
    from sekai.vector.wrappers import VecClipReward as VecClipReward
    from sekai.vector.wrappers import VecDelayAction as VecDelayAction
    from sekai.vector.wrappers import VecDelayObservation as VecDelayObservation
    from sekai.vector.wrappers import VecDtypeObservation as VecDtypeObservation
    from sekai.vector.wrappers import VecFilterObservation as VecFilterObservation
    from sekai.vector.wrappers import VecFlattenObservation as VecFlattenObservation
    from sekai.vector.wrappers import VecFrameStackObservation as VecFrameStackObservation
    from sekai.vector.wrappers import VecNormalizeObservation as VecNormalizeObservation
    from sekai.vector.wrappers import VecNormalizeReward as VecNormalizeReward
    from sekai.vector.wrappers import VecPadSequenceObservation as VecPadSequenceObservation
    from sekai.vector.wrappers import VecRecordEpisodeStatistics as VecRecordEpisodeStatistics
    from sekai.vector.wrappers import VecRescaleAction as VecRescaleAction
    from sekai.vector.wrappers import VecRescaleObservation as VecRescaleObservation
    from sekai.vector.wrappers import VecStickyAction as VecStickyAction
    from sekai.vector.wrappers import VecTimeAwareObservation as VecTimeAwareObservation
    from sekai.vector.wrappers import VecTimeLimit as VecTimeLimit
    from sekai.vector.wrappers import VecTransformObservation as VecTransformObservation
    from sekai.vector.wrappers import VecTransformReward as VecTransformReward
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
            "sekai.vector.result": "VecResetResult VecStepResult GroupStepResult stack_infos",
            "sekai.vector.seeding": "lane_seeds",
            "sekai.vector.sync_vec_env": "SyncVecEnv",
            "sekai.vector.vec_env": "VecEnv",
            "sekai.vector.vec_wrapper": "VecWrapper VecObservationWrapper VecRewardWrapper VecActionWrapper",
            "sekai.vector.wrappers": """
                VecTimeLimit VecRecordEpisodeStatistics
                VecFlattenObservation VecNormalizeObservation VecFrameStackObservation VecTransformObservation
                VecRescaleObservation VecDtypeObservation VecFilterObservation VecTimeAwareObservation
                VecDelayObservation VecPadSequenceObservation VecActionMaskObservation
                VecClipAction VecRescaleAction VecStickyAction VecActionRepeat VecDelayAction
                VecNormalizeReward VecTransformReward VecClipReward
            """,
        },
    )
