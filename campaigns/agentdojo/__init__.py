"""A small set of contracts against injected instructions, measured on AgentDojo's recorded runs.

`python -m campaigns.agentdojo FOLDER` replays `pack.yaml` over the runs that it was tuned on, and
over those that it was not.
"""
