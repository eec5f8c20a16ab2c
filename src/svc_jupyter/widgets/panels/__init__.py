"""Code shared by all panels."""
