"""Compiled code: every formula of the library, once."""

from sekai.kernels.jit import at, kernel

__all__ = ["at", "kernel"]
