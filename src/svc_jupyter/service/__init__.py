"""The data-processing service behind the API: embedded on a laptop, or with PostgreSQL and replicas."""
