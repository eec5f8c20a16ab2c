"""The life of a cell that runs a command: submitted, followed, read or cancelled."""
