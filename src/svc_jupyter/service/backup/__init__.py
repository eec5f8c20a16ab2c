"""Backups of a service: database, files and key as one consistent whole, and their restore."""
