"""Checkers of environments and batches, and hypothesis strategies (which need the package hypothesis)."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sekai.testing import strategies as strategies
    from sekai.testing.env_checker import check_env as check_env
    from sekai.testing.lookahead import check_no_lookahead as check_no_lookahead
    from sekai.testing.vec_env_checker import check_vec_env as check_vec_env
else:
    from sekai._lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        objects={
            "sekai.testing.env_checker": "check_env",
            "sekai.testing.lookahead": "check_no_lookahead",
            "sekai.testing.vec_env_checker": "check_vec_env",
        },
        modules={"strategies": "sekai.testing.strategies"},
    )
