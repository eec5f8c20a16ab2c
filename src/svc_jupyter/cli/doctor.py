"""`svc-jupyter doctor`: what is missing, and how to fix it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator

from svc_jupyter.cli.checks.connections import check_demo, check_service, check_settings
from svc_jupyter.cli.checks.engines import check_engines_at_once
from svc_jupyter.cli.checks.finding import Finding, Mark, fine, wrong
from svc_jupyter.cli.checks.installation import check_installation, missing_packages
from svc_jupyter.cli.checks.machine import check_bash, check_data_folder, check_isolation, check_user
from svc_jupyter.cli.checks.outside import check_from_outside
from svc_jupyter.cli.wrong_settings import faults
from svc_jupyter.client import ConfigurationError
from svc_jupyter.client.address.config import Settings, config_file, data_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `doctor`."""
    parser.add_argument("--url", help="check the service at this address from outside, instead of this machine")
    parser.add_argument(
        "--run-command", action="store_true", help="with --url: also run a shell command of three seconds"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print a line per finding, with its fix; return 0 when everything required works, else 1, 2 for wrong options."""
    if arguments.run_command and not arguments.url:
        return _refuse("--run-command needs --url: which service?")
    try:
        return _show(
            check_from_outside(arguments.url, runs_a_command=arguments.run_command) if arguments.url else findings()
        )
    except ConfigurationError as error:
        return _refuse(error.message)


def _show(found: Iterator[Finding]) -> int:
    marks = set()
    for finding in found:
        marks.add(finding.mark)
        print(f"{finding.mark} {finding.about:<14} {finding.what}", flush=True)
        if finding.fix:
            print(f"  {'':<14} → {finding.fix}", flush=True)
    print("something does not work: see ✗ above" if Mark.WRONG in marks else "ready to use")
    return 1 if Mark.WRONG in marks else 0


def _refuse(message: str) -> int:
    print(f"svc-jupyter: {message}", file=sys.stderr)
    return 2


def findings() -> Iterator[Finding]:
    """Yield all findings, one check after the other."""
    try:
        settings = Settings.load()
    except ConfigurationError as error:
        settings = None
        problem = error.message
    remote = settings is not None and not settings.embedded
    yield from check_installation(remote=remote)
    data_dir = data_folder(os.environ)
    yield from check_data_folder(data_dir)
    if not remote:
        yield from check_user()
    yield check_bash()
    if settings is None:
        yield wrong("configuration", problem, "the message says it")
        return
    profiles = config_file(os.environ)
    yield fine("configuration", f"{settings.source}" + (f", profiles in {profiles}" if profiles.exists() else ""))
    yield check_service(settings)
    if not remote and not missing_packages("service"):
        yield from _of_the_service()
        yield check_demo(data_dir)


def _of_the_service() -> Iterator[Finding]:
    from pydantic import ValidationError

    from svc_jupyter.service.ground.settings import Settings as ServiceSettings

    try:
        settings = ServiceSettings()
    except ValidationError as error:
        for name, message in faults(error):
            yield wrong("settings", f"{name}: {message}", f"correct {name} in the environment")
        return
    yield from check_settings(settings)
    yield check_isolation(settings)
    yield check_engines_at_once(settings)
