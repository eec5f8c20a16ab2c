"""Which database and which data folder belong together, and which ids were given in the past of both."""
