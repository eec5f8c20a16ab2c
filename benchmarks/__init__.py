"""Speed and memory of svc-jupyter compared with its alternatives: `python -m benchmarks [name …] [--quick]`.

No times are asserted. All contestants of a table take turns in one run, so that the ratios are valid on a busy machine
too.
"""
