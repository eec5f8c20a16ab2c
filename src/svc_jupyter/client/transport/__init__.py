"""Calls, retries, connections and the reading of answers."""
