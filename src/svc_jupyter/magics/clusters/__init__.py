"""Clusters, package environments and pipelines."""
