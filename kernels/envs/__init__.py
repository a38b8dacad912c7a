"""Environments as lane functions, one file each."""
