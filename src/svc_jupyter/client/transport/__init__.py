"""How the client talks: calls, retries, connections, and how an answer is read."""
