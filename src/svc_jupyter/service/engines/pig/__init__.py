"""Pig: a warm Java per script, which runs it locally or on a cluster and writes what it dumps as typed rows."""
