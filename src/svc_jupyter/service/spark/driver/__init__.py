"""The programs inside Spark's own Python environment: the session server, its sessions, and programs that run alone.

They are copied to a cluster's coordinator and run there as the package `svc_spark`: nothing of the service is imported,
and imports among them are relative. `statement.py` and `wire.py` are the service's side of it, too.
"""
