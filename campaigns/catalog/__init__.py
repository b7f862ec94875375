"""Replays the patterns of the catalog over the corpora: contracts, recounts, and the page's tables.

`python -m campaigns.catalog FOLDER` replays the contract files of this folder over recorded runs
and counts again without the engine.
"""
