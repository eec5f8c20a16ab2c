"""Completion of options, values and names."""
