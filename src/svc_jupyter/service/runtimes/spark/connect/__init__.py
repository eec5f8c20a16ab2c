"""Spark Connect servers that others run."""
