"""The form of a note's values."""
