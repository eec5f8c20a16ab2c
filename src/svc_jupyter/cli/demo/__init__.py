"""The public data set of the quick start: every flight that left New York City in 2013."""
