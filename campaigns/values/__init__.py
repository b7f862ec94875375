"""Measures twelve rules about values: in words, as contracts, and counted without the engine.

`python -m campaigns.values FOLDER` replays `contracts.yaml` over the corpora of recorded runs,
counts the same with `independent.py`, and compares trace by trace.
"""
