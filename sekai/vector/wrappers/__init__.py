"""Wrappers of batches."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sekai.vector.wrappers.action_mask_observation import VecActionMaskObservation as VecActionMaskObservation
    from sekai.vector.wrappers.action_repeat import VecActionRepeat as VecActionRepeat
    from sekai.vector.wrappers.clip import VecClipAction as VecClipAction
    from sekai.vector.wrappers.clip import VecClipReward as VecClipReward
    from sekai.vector.wrappers.delay import VecDelayAction as VecDelayAction
    from sekai.vector.wrappers.delay import VecDelayObservation as VecDelayObservation
    from sekai.vector.wrappers.dtype_observation import VecDtypeObservation as VecDtypeObservation
    from sekai.vector.wrappers.filter_observation import VecFilterObservation as VecFilterObservation
    from sekai.vector.wrappers.flatten_observation import VecFlattenObservation as VecFlattenObservation
    from sekai.vector.wrappers.frame_stack_observation import VecFrameStackObservation as VecFrameStackObservation
    from sekai.vector.wrappers.normalize import VecNormalizeObservation as VecNormalizeObservation
    from sekai.vector.wrappers.normalize import VecNormalizeReward as VecNormalizeReward
    from sekai.vector.wrappers.pad_sequence_observation import VecPadSequenceObservation as VecPadSequenceObservation
    from sekai.vector.wrappers.record_episode_statistics import (
        VecRecordEpisodeStatistics as VecRecordEpisodeStatistics,
    )
    from sekai.vector.wrappers.rescale import VecRescaleAction as VecRescaleAction
    from sekai.vector.wrappers.rescale import VecRescaleObservation as VecRescaleObservation
    from sekai.vector.wrappers.sticky_action import VecStickyAction as VecStickyAction
    from sekai.vector.wrappers.time_aware_observation import VecTimeAwareObservation as VecTimeAwareObservation
    from sekai.vector.wrappers.time_limit import VecTimeLimit as VecTimeLimit
    from sekai.vector.wrappers.transform import VecTransformObservation as VecTransformObservation
    from sekai.vector.wrappers.transform import VecTransformReward as VecTransformReward
else:
    from sekai._lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        objects={
            "sekai.vector.wrappers.action_mask_observation": "VecActionMaskObservation",
            "sekai.vector.wrappers.action_repeat": "VecActionRepeat",
            "sekai.vector.wrappers.clip": "VecClipAction VecClipReward",
            "sekai.vector.wrappers.delay": "VecDelayAction VecDelayObservation",
            "sekai.vector.wrappers.dtype_observation": "VecDtypeObservation",
            "sekai.vector.wrappers.filter_observation": "VecFilterObservation",
            "sekai.vector.wrappers.flatten_observation": "VecFlattenObservation",
            "sekai.vector.wrappers.frame_stack_observation": "VecFrameStackObservation",
            "sekai.vector.wrappers.normalize": "VecNormalizeObservation VecNormalizeReward",
            "sekai.vector.wrappers.pad_sequence_observation": "VecPadSequenceObservation",
            "sekai.vector.wrappers.record_episode_statistics": "VecRecordEpisodeStatistics",
            "sekai.vector.wrappers.rescale": "VecRescaleAction VecRescaleObservation",
            "sekai.vector.wrappers.sticky_action": "VecStickyAction",
            "sekai.vector.wrappers.time_aware_observation": "VecTimeAwareObservation",
            "sekai.vector.wrappers.time_limit": "VecTimeLimit",
            "sekai.vector.wrappers.transform": "VecTransformObservation VecTransformReward",
        },
    )
