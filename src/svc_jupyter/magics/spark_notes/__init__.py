"""Spark notebooks: show and run them."""
