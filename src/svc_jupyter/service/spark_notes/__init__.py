"""Runs of Spark notebooks: their paragraphs, forms and results (SPEC: Run a Spark notebook)."""
