"""The requests for each resource, without a socket."""
