"""The programs inside Spark's own Python environment: the session server, its sessions, and standalone programs.

They are copied to a cluster's coordinator and run there as the package `svc_spark`: they import nothing of the service,
and imports among them are relative. The service also imports `statement.py` and `wire.py`.
"""
