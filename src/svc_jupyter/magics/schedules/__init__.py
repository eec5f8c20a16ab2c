"""Schedules, their actions, and what those ran."""
