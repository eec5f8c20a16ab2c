"""The Jupyter kernel Spark (svc): its cells are paragraphs in a session on a cluster of the service."""
