"""What all panels share."""
