"""Wrappers of single environments."""

from sekai.wrappers.time_limit import TimeLimit

__all__ = ["TimeLimit"]
