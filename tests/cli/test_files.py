"""Files of the command: whole or not at all."""

import numpy as np
import pytest

import sekai
from sekai.cli.files import check_file, named_arrays, save_rollout, write_whole


def test_a_path_that_can_be_written(tmp_path):
    assert check_file("--plot", str(tmp_path / "a.png"), (".png",)) == tmp_path / "a.png"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.jpg", "--plot must name a file that ends in .png, got"),
        ("folder.png", "is a folder"),
        ("nowhere/a.png", "does not exist"),
    ],
)
def test_paths_that_cannot(tmp_path, name, message):
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(ValueError, match=message):
        check_file("--plot", str(tmp_path / name), (".png",))


def test_a_folder_that_cannot_be_written_to(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(ValueError, match=r"--plot: the folder .* cannot be written to"):
        check_file("--plot", str(tmp_path / "a.png"), (".png",))


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "a.txt"
    write_whole(path, lambda file: file.write(b"first"))

    def fails(file):
        file.write(b"sec")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(path, fails)
    assert path.read_bytes() == b"first"
    write_whole(path, lambda file: file.write(b"third"))
    assert path.read_bytes() == b"third"
    assert list(tmp_path.iterdir()) == [path]


def test_arrays_are_named_by_the_way_to_them():
    nest = {"left": (1, 2), "right": {"deep": 3}}
    assert dict(named_arrays("a", nest)) == {"a.left.0": 1, "a.left.1": 2, "a.right.deep": 3}


class Pair(sekai.Env):
    """Has two observations and two actions, and lasts three steps."""

    observation_space = sekai.Dict({"x": sekai.Box(0, 9, (1,)), "n": sekai.Discrete(10)})
    action_space = sekai.Tuple([sekai.Discrete(2), sekai.Discrete(3)])

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        self.t = 0
        return sekai.ResetResult(self.look(), {})

    def step(self, action):
        self.t += 1
        return sekai.StepResult(self.look(), 1.0, self.t == 3, False, {})

    def look(self):
        return {"x": np.full(1, self.t, np.float32), "n": np.int64(self.t)}


def test_nested_observations_and_actions_are_written(tmp_path):
    vec = sekai.SyncVecEnv([Pair] * 2)
    save_rollout(tmp_path / "a.npz", sekai.rollout(vec, "random", 4, seed=0))
    with np.load(tmp_path / "a.npz") as got:
        assert got["observations.n"].tolist() == [[0, 0], [1, 1], [2, 2], [0, 0]]
        assert got["observations.x"].shape == (4, 2, 1)
        assert got["last_observations.n"].tolist() == [1, 1]
        assert got["actions.1"].shape == (4, 2)
        assert got["episodes.final_observations.n"].tolist() == [3, 3]
