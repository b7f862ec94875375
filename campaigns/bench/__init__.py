"""The benchmark: what a decision costs, side by side with others (`make bench`)."""
