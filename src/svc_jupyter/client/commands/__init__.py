"""What is known of a command, and how its end, its log and its result are read: for both kinds of client."""
