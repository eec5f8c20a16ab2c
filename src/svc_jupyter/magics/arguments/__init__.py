"""Options and actions of a magic: how its line is read."""
