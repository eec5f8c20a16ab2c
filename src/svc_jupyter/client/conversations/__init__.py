"""What is said to the service about each resource, without a socket."""
