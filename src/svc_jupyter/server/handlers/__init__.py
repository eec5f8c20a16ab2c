"""Handlers, one class per route; they forward the service's answers unchanged."""
