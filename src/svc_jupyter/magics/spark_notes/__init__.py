"""Spark notebooks: one shown or run."""
