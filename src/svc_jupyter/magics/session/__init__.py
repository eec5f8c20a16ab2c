"""The notebook's connection to its service, and the settings of all cells."""
