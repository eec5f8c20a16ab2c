"""What both clients know of a resource's requests: types of parameters, paths, bodies, and the choice among names."""
