"""The base classes of environments and wrappers, and what their methods return."""

from sekai.core.env import Env
from sekai.core.multi_agent import MultiAgentEnv
from sekai.core.result import MAResetResult, MAStepResult, ResetResult, StepResult
from sekai.core.wrapper import ActionWrapper, ObservationWrapper, RewardWrapper, Wrapper

__all__ = [
    "ActionWrapper",
    "Env",
    "MAResetResult",
    "MAStepResult",
    "MultiAgentEnv",
    "ObservationWrapper",
    "ResetResult",
    "RewardWrapper",
    "StepResult",
    "Wrapper",
]
