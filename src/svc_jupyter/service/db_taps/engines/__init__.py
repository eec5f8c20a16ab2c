"""How each kind of database is queried, inside a worker process. Nothing of the service's own is imported here."""
