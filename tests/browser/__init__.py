"""JupyterLab in a real browser. A package, so that the browser's fixtures end with its last test."""
