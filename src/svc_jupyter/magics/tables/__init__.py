"""Hive's tables and the sensors for them."""
