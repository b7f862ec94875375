"""Checks of contracts before they run, and where a guard meets the tools of its host.

In: contracts and an inventory of tools. Out: a compiled `Policy`, or every mistake at once.
"""
