"""The ziggurat tables are NumPy's, byte for byte."""

from pathlib import Path

import numpy as np
import pytest
from numpy.random import _generator

from sekai.kernels import ziggurat

TABLES = [f"{name}_{table}" for name in ("NORMAL", "EXPONENTIAL") for table in "KWF"]


@pytest.mark.parametrize("name", TABLES)
def test_numpy_holds_the_same_table(name):
    table = getattr(ziggurat, name)
    assert table.shape == (256,)
    assert table.dtype == (np.uint64 if name.endswith("K") else np.float64)
    assert table.tobytes() in Path(_generator.__file__).read_bytes()
