"""Monitors of formulas: (state, letter) -> (state, violated), with exact verdicts.

In: a formula. Out: a `Program`, and a `Monitor` that steps through letters and says at each whether
the formula is violated, satisfied or open. `parametric` does it for each value of a variable.
"""
