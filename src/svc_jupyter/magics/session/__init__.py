"""The notebook's connection to its service, and what a user can set for all cells."""
