"""`svc-jupyter stop`: stop the embedded service; running commands continue and the next service adopts them."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time

from svc_jupyter.cli.embedded import embedded_service, where_it_stands
from svc_jupyter.client import Client, Retries, SvcError

STOP_SECONDS = 30.0
_LOOK_EVERY = 0.05


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`stop` has no options."""


def run(arguments: argparse.Namespace) -> int:  # noqa: ARG001  the interface of all subcommands
    """Ask the service to stop and wait until it has; return 0 when none runs any more, else 1."""
    service = embedded_service()
    try:
        found = service.find()
        if found is None and service.is_held():
            print(f"svc-jupyter stop: {where_it_stands(service)}", file=sys.stderr)
            return 1
        if found is None:
            print(f"no service runs on {service.data_dir}")
            return 0
        # Only a service that accepts the file's token is the process that wrote the file.
        with Client(found.base_url, found.token, retries=Retries(attempts=1), timeout=5.0) as client:
            client.account.get()
    except SvcError as error:
        print(
            f"svc-jupyter stop: the service of {service.data_dir} does not answer: {error.message}\n"
            f"Look at {service.log}, then end its process yourself",
            file=sys.stderr,
        )
        return 1
    os.kill(found.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while service.find() == found or (service.postgresql() is None and service.is_held()):
        if time.monotonic() > deadline:
            print(f"svc-jupyter stop: process {found.pid} has not stopped within {STOP_SECONDS:.0f} s", file=sys.stderr)
            return 1
        time.sleep(_LOOK_EVERY)
    print(f"stopped (process {found.pid}); commands that were running go on and are found again")
    return 0
