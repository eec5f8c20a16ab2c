"""The contract: what crosses the wire between a client and a service (SPEC.md). Imports nothing of ours."""
