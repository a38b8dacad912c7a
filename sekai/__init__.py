"""Reinforcement-learning environments as batches of compiled Numba kernels.

Everything is imported when it is first asked for: importing the package compiles nothing and stays fast.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sekai import compat as compat
    from sekai import core as core
    from sekai import envs as envs
    from sekai import error as error
    from sekai import finance as finance
    from sekai import kernels as kernels
    from sekai import policies as policies
    from sekai import registry as registry
    from sekai import rendering as rendering
    from sekai import returns as returns
    from sekai import spaces as spaces
    from sekai import stats as stats
    from sekai import testing as testing
    from sekai import utils as utils
    from sekai import vector as vector
    from sekai import wrappers as wrappers
    from sekai._version import __version__ as __version__
    from sekai.core import ActionWrapper as ActionWrapper
    from sekai.core import Env as Env
    from sekai.core import MAResetResult as MAResetResult
    from sekai.core import MAStepResult as MAStepResult
    from sekai.core import MultiAgentEnv as MultiAgentEnv
    from sekai.core import ObservationWrapper as ObservationWrapper
    from sekai.core import ResetResult as ResetResult
    from sekai.core import RewardWrapper as RewardWrapper
    from sekai.core import StepResult as StepResult
    from sekai.core import Wrapper as Wrapper
    from sekai.error import AsyncCallPending as AsyncCallPending
    from sekai.error import EnvAlreadyRegistered as EnvAlreadyRegistered
    from sekai.error import EnvNotFound as EnvNotFound
    from sekai.error import InvalidAction as InvalidAction
    from sekai.error import InvalidObservation as InvalidObservation
    from sekai.error import LookAheadError as LookAheadError
    from sekai.error import ResetRequired as ResetRequired
    from sekai.error import SekaiError as SekaiError
    from sekai.error import SpaceMismatch as SpaceMismatch
    from sekai.error import VecEnvClosed as VecEnvClosed
    from sekai.error import VecEnvWorkerError as VecEnvWorkerError
    from sekai.registry import EnvSpec as EnvSpec
    from sekai.registry import WrapperSpec as WrapperSpec
    from sekai.registry import all_specs as all_specs
    from sekai.registry import deregister as deregister
    from sekai.registry import make as make
    from sekai.registry import make_vec as make_vec
    from sekai.registry import pprint_registry as pprint_registry
    from sekai.registry import register as register
    from sekai.registry import register_namespace as register_namespace
    from sekai.registry import spec as spec
    from sekai.rollouts import Rollout as Rollout
    from sekai.rollouts import rollout as rollout
    from sekai.spaces import Box as Box
    from sekai.spaces import Dict as Dict
    from sekai.spaces import Discrete as Discrete
    from sekai.spaces import MaskedBox as MaskedBox
    from sekai.spaces import MultiBinary as MultiBinary
    from sekai.spaces import MultiDiscrete as MultiDiscrete
    from sekai.spaces import Sequence as Sequence
    from sekai.spaces import Space as Space
    from sekai.spaces import Tuple as Tuple
    from sekai.spaces import utils as _space_utils
    from sekai.stats import EpisodeBatch as EpisodeBatch
    from sekai.stats import EpisodeStats as EpisodeStats
    from sekai.stats import FileTracker as FileTracker
    from sekai.stats import InMemoryTracker as InMemoryTracker
    from sekai.stats import LoggingTracker as LoggingTracker
    from sekai.stats import StatsTracker as StatsTracker
    from sekai.testing import check_env as check_env
    from sekai.utils import ExponentialMovingStats as ExponentialMovingStats
    from sekai.utils import RunningMeanStd as RunningMeanStd
    from sekai.utils import get_action_mask as get_action_mask
    from sekai.utils import make_seed_sequence as make_seed_sequence
    from sekai.utils import np_random as np_random
    from sekai.vector import AsyncVecEnv as AsyncVecEnv
    from sekai.vector import KernelEnv as KernelEnv
    from sekai.vector import KernelVecEnv as KernelVecEnv
    from sekai.vector import NativeVecEnv as NativeVecEnv
    from sekai.vector import PerLane as PerLane
    from sekai.vector import ProcVecEnv as ProcVecEnv
    from sekai.vector import SyncVecEnv as SyncVecEnv
    from sekai.vector import VecActionMaskObservation as VecActionMaskObservation
    from sekai.vector import VecActionRepeat as VecActionRepeat
    from sekai.vector import VecActionWrapper as VecActionWrapper
    from sekai.vector import VecClipAction as VecClipAction
    from sekai.vector import VecClipReward as VecClipReward
    from sekai.vector import VecDelayAction as VecDelayAction
    from sekai.vector import VecDelayObservation as VecDelayObservation
    from sekai.vector import VecDtypeObservation as VecDtypeObservation
    from sekai.vector import VecEnv as VecEnv
    from sekai.vector import VecFilterObservation as VecFilterObservation
    from sekai.vector import VecFlattenObservation as VecFlattenObservation
    from sekai.vector import VecFrameStackObservation as VecFrameStackObservation
    from sekai.vector import VecNormalizeObservation as VecNormalizeObservation
    from sekai.vector import VecNormalizeReward as VecNormalizeReward
    from sekai.vector import VecObservationWrapper as VecObservationWrapper
    from sekai.vector import VecPadSequenceObservation as VecPadSequenceObservation
    from sekai.vector import VecRecordEpisodeStatistics as VecRecordEpisodeStatistics
    from sekai.vector import VecRescaleAction as VecRescaleAction
    from sekai.vector import VecRescaleObservation as VecRescaleObservation
    from sekai.vector import VecResetResult as VecResetResult
    from sekai.vector import VecRewardWrapper as VecRewardWrapper
    from sekai.vector import VecStepResult as VecStepResult
    from sekai.vector import VecStickyAction as VecStickyAction
    from sekai.vector import VecTimeAwareObservation as VecTimeAwareObservation
    from sekai.vector import VecTimeLimit as VecTimeLimit
    from sekai.vector import VecTransformObservation as VecTransformObservation
    from sekai.vector import VecTransformReward as VecTransformReward
    from sekai.vector import VecWrapper as VecWrapper
    from sekai.vector import lane_seeds as lane_seeds
    from sekai.vector import stack_infos as stack_infos
    from sekai.wrappers import ActionMaskObservation as ActionMaskObservation
    from sekai.wrappers import ActionRepeat as ActionRepeat
    from sekai.wrappers import AutoReset as AutoReset
    from sekai.wrappers import ClipAction as ClipAction
    from sekai.wrappers import ClipReward as ClipReward
    from sekai.wrappers import DelayAction as DelayAction
    from sekai.wrappers import DelayObservation as DelayObservation
    from sekai.wrappers import DtypeObservation as DtypeObservation
    from sekai.wrappers import FilterObservation as FilterObservation
    from sekai.wrappers import FlattenObservation as FlattenObservation
    from sekai.wrappers import FrameStackObservation as FrameStackObservation
    from sekai.wrappers import NormalizeObservation as NormalizeObservation
    from sekai.wrappers import NormalizeReward as NormalizeReward
    from sekai.wrappers import OrderEnforcing as OrderEnforcing
    from sekai.wrappers import PadSequenceObservation as PadSequenceObservation
    from sekai.wrappers import RecordEpisodeStatistics as RecordEpisodeStatistics
    from sekai.wrappers import RescaleAction as RescaleAction
    from sekai.wrappers import RescaleObservation as RescaleObservation
    from sekai.wrappers import StickyAction as StickyAction
    from sekai.wrappers import TimeAwareObservation as TimeAwareObservation
    from sekai.wrappers import TimeLimit as TimeLimit
    from sekai.wrappers import TransformObservation as TransformObservation
    from sekai.wrappers import TransformReward as TransformReward

    space_utils = _space_utils
else:
    from sekai._lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        objects={
            "sekai._version": "__version__",
            "sekai.core": """
                Env Wrapper ObservationWrapper RewardWrapper ActionWrapper MultiAgentEnv
                StepResult ResetResult MAStepResult MAResetResult
            """,
            "sekai.error": """
                SekaiError EnvNotFound EnvAlreadyRegistered InvalidAction InvalidObservation ResetRequired
                AsyncCallPending SpaceMismatch VecEnvWorkerError VecEnvClosed LookAheadError
            """,
            "sekai.registry": """
                register deregister make make_vec spec all_specs register_namespace pprint_registry EnvSpec WrapperSpec
            """,
            "sekai.rollouts": "rollout Rollout",
            "sekai.spaces": "Space Box Discrete MultiDiscrete MultiBinary Dict Tuple Sequence MaskedBox",
            "sekai.stats": "EpisodeStats EpisodeBatch StatsTracker InMemoryTracker LoggingTracker FileTracker",
            "sekai.testing": "check_env",
            "sekai.utils": "np_random make_seed_sequence get_action_mask RunningMeanStd ExponentialMovingStats",
            "sekai.vector": """
                VecEnv KernelVecEnv KernelEnv PerLane SyncVecEnv AsyncVecEnv ProcVecEnv NativeVecEnv
                VecStepResult VecResetResult stack_infos lane_seeds
                VecWrapper VecObservationWrapper VecRewardWrapper VecActionWrapper
                VecTimeLimit VecRecordEpisodeStatistics
                VecFlattenObservation VecNormalizeObservation VecFrameStackObservation VecTransformObservation
                VecRescaleObservation VecDtypeObservation VecFilterObservation VecTimeAwareObservation
                VecDelayObservation VecPadSequenceObservation VecActionMaskObservation
                VecClipAction VecRescaleAction VecStickyAction VecActionRepeat VecDelayAction
                VecNormalizeReward VecTransformReward VecClipReward
            """,
            "sekai.wrappers": """
                TimeLimit AutoReset OrderEnforcing RecordEpisodeStatistics
                FlattenObservation NormalizeObservation FrameStackObservation TransformObservation RescaleObservation
                DtypeObservation FilterObservation TimeAwareObservation DelayObservation PadSequenceObservation
                ActionMaskObservation ClipAction RescaleAction StickyAction ActionRepeat DelayAction
                NormalizeReward TransformReward ClipReward
            """,
        },
        modules={
            "compat": "sekai.compat",
            "core": "sekai.core",
            "envs": "sekai.envs",
            "error": "sekai.error",
            "finance": "sekai.finance",
            "kernels": "sekai.kernels",
            "policies": "sekai.policies",
            "registry": "sekai.registry",
            "rendering": "sekai.rendering",
            "returns": "sekai.returns",
            "space_utils": "sekai.spaces.utils",
            "spaces": "sekai.spaces",
            "stats": "sekai.stats",
            "testing": "sekai.testing",
            "utils": "sekai.utils",
            "vector": "sekai.vector",
            "wrappers": "sekai.wrappers",
        },
    )
    __all__ = [name for name in __all__ if name not in ("core", "kernels", "registry")]
