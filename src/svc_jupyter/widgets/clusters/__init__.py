"""The panel of a cluster."""
