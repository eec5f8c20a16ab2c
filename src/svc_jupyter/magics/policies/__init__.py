"""Policies of individual objects."""
