"""The arguments of a `HadoopCommand`: which of them are in the account's storage, and how to call the program."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from svc_jupyter.api.commands import HadoopSubCommand
from svc_jupyter.service.ground.errors import Invalid

_FILE_OPTIONS: Final = frozenset({"-files", "-file", "-archives", "-libjars", "-cacheFile", "-cacheArchive"})
"""Options whose value is a comma-separated list of files that the client needs."""
_MAIN: Final[Mapping[HadoopSubCommand, str]] = {
    HadoopSubCommand.STREAMING: "org.apache.hadoop.streaming.HadoopStreaming",
    HadoopSubCommand.DISTCP: "org.apache.hadoop.tools.DistCp",
}
RUN_JAR: Final = "org.apache.hadoop.util.RunJar"
_STORES: Final = ("s3://", "s3a://", "s3n://", "gs://", "gcs://", "az://", "abfs://", "abfss://", "http://", "https://")
_OF_CLUSTER: Final = "hdfs://"


def split_arguments(sub_command: HadoopSubCommand, text: str) -> list[str]:
    """Return the arguments, split as a shell does. Raises `Invalid` for what no program can be called with."""
    if "\0" in text:
        raise Invalid("sub_command_args must not contain a NUL character")
    try:
        arguments = shlex.split(text)
    except ValueError as error:
        raise Invalid(f"sub_command_args cannot be split as a shell does: {str(error).lower()}") from error
    if not arguments:
        raise Invalid(f"sub_command_args is empty: {_EXPECTED[sub_command]}")
    if sub_command is HadoopSubCommand.JAR and arguments[0].startswith("-"):
        raise Invalid(f"sub_command_args begins with {arguments[0]!r}: {_EXPECTED[sub_command]}")
    if sub_command is HadoopSubCommand.JAR and arguments[0].startswith(_OF_CLUSTER):
        raise Invalid("sub_command_args: the jar must lie in the account's storage, not in a cluster's HDFS")
    return arguments


_EXPECTED: Final[Mapping[HadoopSubCommand, str]] = {
    HadoopSubCommand.JAR: "give the location of a jar, its main class where the jar names none, and its arguments",
    HadoopSubCommand.STREAMING: "give -input, -output, -mapper and what else the job needs",
    HadoopSubCommand.DISTCP: "give the sources and the target",
}


@dataclass(frozen=True, slots=True)
class Fetched:
    """An argument, or a part of one, that names a file in the storage."""

    argument: int
    part: int
    location: str
    fragment: str
    """The text after `#`: the file's name in tasks."""


def locations_in(sub_command: HadoopSubCommand, arguments: Sequence[str]) -> list[Fetched]:
    """Return what to fetch before the program runs: the jar, and files for the tasks from object stores."""
    found = [Fetched(0, 0, arguments[0], "")] if sub_command is HadoopSubCommand.JAR else []
    for number, option in enumerate(arguments[:-1]):
        if option in _FILE_OPTIONS:
            for part, text in enumerate(arguments[number + 1].split(",")):
                if text.startswith(_STORES):
                    location, sign, name = text.partition("#")
                    found.append(Fetched(number + 1, part, location, sign + name))
    return found


def with_fetched(arguments: Sequence[str], fetched: Mapping[Fetched, str]) -> list[str]:
    """Return the arguments with each fetched location replaced by its path on this machine."""
    changed = [argument.split(",") for argument in arguments]
    touched = {place.argument for place in fetched}
    for place, path in fetched.items():
        if place.argument == 0 and place.part == 0 and not place.fragment:
            changed[0] = [path]
        else:
            changed[place.argument][place.part] = path + place.fragment
    return [
        ",".join(parts) if number in touched else argument
        for number, (parts, argument) in enumerate(zip(changed, arguments, strict=True))
    ]


def with_jars(arguments: Sequence[str], jars: Sequence[str]) -> list[str]:
    """Return the arguments with jars added to an existing `-libjars`, which would otherwise override them."""
    changed = list(arguments)
    for number, option in enumerate(arguments[:-1]):
        if option == "-libjars" and jars:
            changed[number + 1] = ",".join([arguments[number + 1], *jars])
    return changed


def program(sub_command: HadoopSubCommand, arguments: Sequence[str]) -> list[str]:
    """Return the main class with its arguments."""
    main = _MAIN.get(sub_command)
    return [RUN_JAR, *arguments] if main is None else [main, *arguments]
