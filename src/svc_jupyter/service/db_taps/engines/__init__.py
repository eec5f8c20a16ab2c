"""How a worker process queries each kind of database. Imports nothing of the service's own."""
