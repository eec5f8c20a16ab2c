"""Taps: stored connections to databases."""
