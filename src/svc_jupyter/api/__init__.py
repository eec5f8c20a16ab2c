"""The contract: what crosses the wire between a client and a service. Imports nothing of ours."""
