"""Pig: a warm Java process per script, which runs it locally or on a cluster and writes its dumps as typed rows."""
