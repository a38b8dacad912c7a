"""Wrappers of single environments."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sekai.wrappers.action_mask_observation import ActionMaskObservation as ActionMaskObservation
    from sekai.wrappers.action_repeat import ActionRepeat as ActionRepeat
    from sekai.wrappers.auto_reset import AutoReset as AutoReset
    from sekai.wrappers.clip import ClipAction as ClipAction
    from sekai.wrappers.clip import ClipReward as ClipReward
    from sekai.wrappers.delay import DelayAction as DelayAction
    from sekai.wrappers.delay import DelayObservation as DelayObservation
    from sekai.wrappers.dtype_observation import DtypeObservation as DtypeObservation
    from sekai.wrappers.filter_observation import FilterObservation as FilterObservation
    from sekai.wrappers.flatten_observation import FlattenObservation as FlattenObservation
    from sekai.wrappers.frame_stack_observation import FrameStackObservation as FrameStackObservation
    from sekai.wrappers.normalize import NormalizeObservation as NormalizeObservation
    from sekai.wrappers.normalize import NormalizeReward as NormalizeReward
    from sekai.wrappers.order_enforcing import OrderEnforcing as OrderEnforcing
    from sekai.wrappers.pad_sequence_observation import PadSequenceObservation as PadSequenceObservation
    from sekai.wrappers.record_episode_statistics import RecordEpisodeStatistics as RecordEpisodeStatistics
    from sekai.wrappers.rescale import RescaleAction as RescaleAction
    from sekai.wrappers.rescale import RescaleObservation as RescaleObservation
    from sekai.wrappers.sticky_action import StickyAction as StickyAction
    from sekai.wrappers.time_aware_observation import TimeAwareObservation as TimeAwareObservation
    from sekai.wrappers.time_limit import TimeLimit as TimeLimit
    from sekai.wrappers.transform import TransformObservation as TransformObservation
    from sekai.wrappers.transform import TransformReward as TransformReward
else:
    from sekai._lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        objects={
            "sekai.wrappers.action_mask_observation": "ActionMaskObservation",
            "sekai.wrappers.action_repeat": "ActionRepeat",
            "sekai.wrappers.auto_reset": "AutoReset",
            "sekai.wrappers.clip": "ClipAction ClipReward",
            "sekai.wrappers.delay": "DelayAction DelayObservation",
            "sekai.wrappers.dtype_observation": "DtypeObservation",
            "sekai.wrappers.filter_observation": "FilterObservation",
            "sekai.wrappers.flatten_observation": "FlattenObservation",
            "sekai.wrappers.frame_stack_observation": "FrameStackObservation",
            "sekai.wrappers.normalize": "NormalizeObservation NormalizeReward",
            "sekai.wrappers.order_enforcing": "OrderEnforcing",
            "sekai.wrappers.pad_sequence_observation": "PadSequenceObservation",
            "sekai.wrappers.record_episode_statistics": "RecordEpisodeStatistics",
            "sekai.wrappers.rescale": "RescaleAction RescaleObservation",
            "sekai.wrappers.sticky_action": "StickyAction",
            "sekai.wrappers.time_aware_observation": "TimeAwareObservation",
            "sekai.wrappers.time_limit": "TimeLimit",
            "sekai.wrappers.transform": "TransformObservation TransformReward",
        },
    )
