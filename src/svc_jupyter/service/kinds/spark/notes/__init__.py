"""Runs of Spark notebooks: their paragraphs, forms and results."""
