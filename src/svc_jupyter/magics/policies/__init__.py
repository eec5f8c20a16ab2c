"""Who may do what to one object."""
