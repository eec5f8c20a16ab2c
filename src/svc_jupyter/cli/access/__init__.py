"""Code shared by the subcommands `user`, `group`, `role`, `token` and `audit`."""
