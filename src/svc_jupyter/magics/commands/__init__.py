"""One magic per command type, and the magics for existing commands."""
