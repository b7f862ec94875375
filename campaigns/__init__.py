"""Campaigns: long measurements over data that is not in the repository.

`python -m campaigns.corpora FOLDER` replays the example contracts over recorded agent runs and
fills the tables of docs/corpora.md; `python -m campaigns.catalog FOLDER` does so for contracts of
every pattern; `python -m campaigns.values FOLDER` for contracts about values, counted without the
engine, too; `python -m campaigns.agentdojo FOLDER` measures a pack against injected instructions.
Nothing here is needed to build, test or use the package.
"""
