"""The output of cells: tables, progress and errors, as text and HTML."""
