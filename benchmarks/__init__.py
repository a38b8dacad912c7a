"""Measurements of speed, run from the project's folder: `python -m benchmarks.cartpole`. The tests time nothing."""
