"""What `svc-jupyter doctor` looks at: each check returns findings, and changes nothing."""
