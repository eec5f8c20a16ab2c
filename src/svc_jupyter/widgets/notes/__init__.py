"""The form of a note."""
