"""Results of earlier commands in a new kernel."""
