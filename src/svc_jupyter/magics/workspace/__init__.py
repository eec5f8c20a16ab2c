"""Notebooks, notes and folders that the service keeps."""
