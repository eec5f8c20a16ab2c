"""Schedules, their actions and their commands."""
