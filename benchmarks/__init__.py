"""Speed and memory of svc-jupyter beside what a user would pick instead: `python -m benchmarks [name …] [--quick]`.

Nothing here asserts a time. All contestants of a table take turns in one run, so that the ratios hold also on a busy
machine.
"""
