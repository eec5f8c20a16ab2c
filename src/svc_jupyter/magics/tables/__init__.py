"""Hive's tables and what waits for them."""
