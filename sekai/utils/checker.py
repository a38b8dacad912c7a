"""Where `check_env` is looked for; it lives in `sekai.testing`."""

from sekai.testing.env_checker import check_env

__all__ = ["check_env"]
