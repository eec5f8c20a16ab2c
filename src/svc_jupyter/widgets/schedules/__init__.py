"""The panel of schedules."""
