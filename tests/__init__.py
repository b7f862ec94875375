"""The specification, executable: each docstring of a test is a sentence of it."""
