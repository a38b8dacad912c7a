"""Rollouts: many steps of a batch in one call."""

from sekai.rollouts.result import Episodes as Episodes
from sekai.rollouts.result import Rollout as Rollout
from sekai.rollouts.result import Statistics as Statistics
from sekai.rollouts.rolling import rollout as rollout
