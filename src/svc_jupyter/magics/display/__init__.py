"""What a cell shows: tables, progress, errors, in words and as HTML."""
