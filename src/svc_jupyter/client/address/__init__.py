"""Finds the service: settings, profiles, and the embedded service of this machine."""
