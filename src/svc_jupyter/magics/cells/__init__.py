"""A cell that runs a command: submit, follow, read the result, cancel."""
