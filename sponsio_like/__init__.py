"""Contracts for agents' tool calls."""
