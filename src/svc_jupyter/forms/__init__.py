"""Forms in the texts of notes and cells, such as `${day=2024-01-01}`, and their values in a run."""
