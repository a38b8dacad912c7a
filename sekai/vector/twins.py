"""The vector wrappers that do for a batch what wrappers do for each of its environments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sekai import vector as vec
from sekai import wrappers as single
from sekai.spaces import concatenate, iterate
from sekai.vector.vec_env import VecEnv

Batch = VecEnv[Any, Any]


def _normalize_observation(venv: Batch, w: single.NormalizeObservation[Any, Any]) -> Batch:
    n = w.normalizer
    made = vec.VecNormalizeObservation(venv, n.epsilon, stats=n.kind, halflife=n.halflife, clip=n.clip)
    return _with_statistics(made, w)


def _with_statistics(made: Any, w: Any) -> Batch:
    made.load_state_dict(w.state_dict())
    made.update_running_mean = w.update_running_mean
    return made  # type: ignore[no-any-return]


def _transform_observation(venv: Batch, w: single.TransformObservation[Any, Any, Any]) -> Batch:
    inner, outer = venv.observation_space, w.observation_space

    def each(batch: Any) -> Any:
        return concatenate(outer, [w.func(observation) for observation in iterate(inner, batch)])

    return vec.VecTransformObservation(venv, each, outer)


def _transform_reward(venv: Batch, w: single.TransformReward[Any, Any]) -> Batch:
    return vec.VecTransformReward(venv, lambda rewards: [w.func(reward) for reward in rewards.tolist()])


# Class of a wrapper to what makes its twin around a batch, with the same arguments. OrderEnforcing needs none.
# Normalisers and recorders become ones that all lanes share. Functions still get one observation or reward at a time.
TWINS: dict[type, Callable[[Batch, Any], Batch]] = {
    single.TimeLimit: lambda venv, w: vec.VecTimeLimit(venv, w.max_episode_steps),
    single.OrderEnforcing: lambda venv, w: venv,
    single.RecordEpisodeStatistics: lambda venv, w: vec.VecRecordEpisodeStatistics(venv, w.tracker),
    single.FlattenObservation: lambda venv, w: vec.VecFlattenObservation(venv),
    single.NormalizeObservation: _normalize_observation,
    single.FrameStackObservation: lambda venv, w: vec.VecFrameStackObservation(venv, w.num_stack, padding=w.padding),
    single.TransformObservation: _transform_observation,
    single.RescaleObservation: lambda venv, w: vec.VecRescaleObservation(venv, w.min_obs, w.max_obs),
    single.DtypeObservation: lambda venv, w: vec.VecDtypeObservation(venv, w.dtype),
    single.FilterObservation: lambda venv, w: vec.VecFilterObservation(venv, w.keys),
    single.TimeAwareObservation: lambda venv, w: vec.VecTimeAwareObservation(
        venv, w.max_episode_steps, normalize_time=w.normalize_time, dict_key=w.dict_key
    ),
    single.DelayObservation: lambda venv, w: vec.VecDelayObservation(venv, w.delay, padding=w.padding),
    single.PadSequenceObservation: lambda venv, w: vec.VecPadSequenceObservation(
        venv, w.max_length, truncate=w.truncate
    ),
    single.ActionMaskObservation: lambda venv, w: vec.VecActionMaskObservation(venv, key=w.key),
    single.ClipAction: lambda venv, w: vec.VecClipAction(venv),
    single.RescaleAction: lambda venv, w: vec.VecRescaleAction(venv, w.min_action, w.max_action),
    single.StickyAction: lambda venv, w: vec.VecStickyAction(venv, w.repeat_action_probability),
    single.ActionRepeat: lambda venv, w: vec.VecActionRepeat(venv, w.repeat),
    single.DelayAction: lambda venv, w: vec.VecDelayAction(venv, w.delay, noop=w.noop),
    single.NormalizeReward: lambda venv, w: _with_statistics(vec.VecNormalizeReward(venv, w.gamma, w.epsilon), w),
    single.TransformReward: _transform_reward,
    single.ClipReward: lambda venv, w: vec.VecClipReward(venv, w.min_reward, w.max_reward),
}
