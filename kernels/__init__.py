"""Compiled code: every formula of the library, once."""

from sekai.kernels.jit import kernel

__all__ = ["kernel"]
