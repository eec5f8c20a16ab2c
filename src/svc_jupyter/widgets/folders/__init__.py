"""The panel of folders, notes and dashboards."""
