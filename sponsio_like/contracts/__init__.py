"""Contracts as people write them: YAML, sentences, mappings, Python.

In: files and declarations. Out: a `Contract` with its rules, or every mistake with its place.
Patterns and strategies are declared here and defined in rooms of their own.
"""
