"""The data-processing service behind the API of SPEC.md: embedded on a laptop, or with PostgreSQL and replicas."""
