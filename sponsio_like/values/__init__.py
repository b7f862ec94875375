"""JSON values as contracts read them.

In: arguments and answers of tools. Out: private copies, canonical forms and digests, the values at
a path, comparisons, the pieces of a text. Caps bound how much of one value is read.
"""
