"""Checks of contracts before they run, and of the host's tools against what contracts name.

In: contracts and an inventory of tools. Out: a compiled `Policy`, or every mistake at once.
"""
