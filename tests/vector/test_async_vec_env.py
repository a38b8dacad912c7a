"""Batches of environments that wait for something, all at once."""

import asyncio
import gc
import warnings

import pytest

import sekai

pytestmark = pytest.mark.usefixtures("bounded")


@pytest.fixture
def meeting(tick):
    """A class whose steps and resets end only when those of `Meeting.size` environments have begun."""

    class Meeting(tick):
        size = 3
        waiting = 0
        awaited = 0

        async def meet(self):
            cls = type(self)
            cls.awaited += 1
            cls.waiting += 1
            while cls.waiting % cls.size:
                await asyncio.sleep(0)

        async def async_reset(self, *, seed=None, options=None):
            await self.meet()
            return self.reset(seed=seed, options=options)

        async def async_step(self, action):
            await self.meet()
            return self.step(action)

    return Meeting


def test_all_lanes_run_at_the_same_time(meeting):
    vec = sekai.AsyncVecEnv([meeting] * 3)
    vec.reset(seed=0)
    assert vec.step([1, 2, 3]).rewards.tolist() == [1.0, 2.0, 3.0]
    assert meeting.awaited == 6
    vec.close()


def test_autoresets_are_awaited_within_the_step_of_their_lane(meeting):
    meeting.size = 1
    vec = sekai.AsyncVecEnv([lambda: meeting(1), lambda: meeting(9)])
    vec.reset(seed=0)
    result = vec.step([0, 0])
    assert result.final_lanes.tolist() == [0]
    assert meeting.awaited == 5
    vec.close()


def test_in_a_running_loop_the_methods_are_awaited(meeting):
    vec = sekai.AsyncVecEnv([meeting] * 3)

    async def main():
        await vec.async_reset(seed=0)
        with pytest.raises(RuntimeError, match="await async_step"):
            vec.step([0, 0, 0])
        return await vec.async_step([1, 2, 3], mask=None)

    assert asyncio.run(main()).rewards.tolist() == [1.0, 2.0, 3.0]
    assert vec._loop is None
    vec.close()


def test_closed_comes_before_everything_else(tick):
    vec = sekai.AsyncVecEnv([tick])
    vec.close()

    async def main():
        with pytest.raises(sekai.VecEnvClosed):
            vec.step([0])
        with pytest.raises(sekai.VecEnvClosed):
            await vec.async_reset()

    asyncio.run(main())


def test_calls_do_not_overlap(tick):
    class Slow(tick):
        async def async_step(self, action):
            await asyncio.sleep(0)
            return self.step(action)

    vec = sekai.AsyncVecEnv([Slow])

    async def main():
        await vec.async_reset(seed=0)
        return await asyncio.gather(vec.async_step([1]), vec.async_step([2]), return_exceptions=True)

    first, second = asyncio.run(main())
    assert first.rewards.tolist() == [1.0]
    assert isinstance(second, sekai.AsyncCallPending)
    assert vec.get_attr("steps") == [1]
    vec.close()


def test_after_a_cancelled_call_the_batch_goes_on(tick):
    class Endless(tick):
        async def async_step(self, action):
            if action == 9:
                await asyncio.Event().wait()
            return self.step(action)

    vec = sekai.AsyncVecEnv([Endless] * 2)

    async def main():
        await vec.async_reset(seed=0)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(vec.async_step([9, 0]), timeout=0.01)
        return await vec.async_step([1, 1])

    assert asyncio.run(main()).observations[:, 0].tolist() == [1, 2]
    vec.close()


def test_an_interrupted_step_is_cancelled(tick, ctrl_c):
    begun, cancelled = [], []

    class Endless(tick):
        async def async_step(self, action):
            begun.append(self)
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(self)
                raise

    vec = sekai.AsyncVecEnv([Endless] * 2)
    vec.reset(seed=0)
    ctrl_c(lambda: len(begun) == 2)
    with pytest.raises(KeyboardInterrupt):
        vec.step([0, 0])
    assert cancelled == vec.envs
    assert vec.reset(seed=0).observations[:, 0].tolist() == [0, 0]
    vec.close()


def test_an_env_that_interrupts_is_not_held_back(tick):
    class Interrupting(tick):
        def step(self, action):
            raise KeyboardInterrupt

    vec = sekai.AsyncVecEnv([Interrupting, tick])
    vec.reset(seed=0)
    with pytest.raises(KeyboardInterrupt):
        vec.step([0, 0])
    vec.close()


def test_the_loop_is_kept_between_calls_and_closed_with_its_leftovers(tick):
    class Background(tick):
        async def async_step(self, action):
            self.task = asyncio.get_running_loop().create_task(asyncio.Event().wait())
            return self.step(action)

    vec = sekai.AsyncVecEnv([Background])
    assert vec._loop is None
    vec.reset()
    loop = vec._loop
    vec.step([0])
    assert vec._loop is loop
    vec.close()
    assert vec._loop is None
    assert loop.is_closed()
    assert vec.envs[0].task.cancelled()


def test_a_batch_that_is_not_closed_leaves_no_warning(tick):
    vec = sekai.AsyncVecEnv([tick])
    vec.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del vec
        gc.collect()
