"""What the subcommands of an operator share: `user`, `group`, `role`, `token` and `audit`."""
