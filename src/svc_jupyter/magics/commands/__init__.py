"""One magic per type of command, and those for the commands that are there already."""
