"""The checks of `svc-jupyter doctor`: each returns findings and changes nothing."""
