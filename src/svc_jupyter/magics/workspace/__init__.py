"""Notebooks, notes and folders stored in the service."""
