"""The benchmark: the cost of a decision, measured beside other engines (`make bench`)."""
