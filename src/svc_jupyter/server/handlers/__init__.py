"""Handlers, one class per route; they pass on what the service answers, and say nothing of their own where it does."""
