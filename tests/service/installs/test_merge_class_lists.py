from __future__ import annotations

import lzma
import subprocess
import sys
from pathlib import Path

from svc_jupyter.service.installs.merge_class_lists import merge


def test_classes_of_all_lists_come_once_and_lambdas_after_them():
    one = "# NOTE: generated\norg/b/B id: 7\n@lambda-proxy org/a/A run ()V\norg/a/A\n"
    other = "org/a/A\njava/lang/Object id: 0\n"
    assert merge([one, other]) == "java/lang/Object\norg/a/A\norg/b/B\n@lambda-proxy org/a/A run ()V\n"


def test_classes_without_a_name_or_of_another_loader_are_left_out():
    text = "org/a/A$$Lambda$7+0x000000084\norg/p/Plugin id: 9 super: 0 source: /jars/plugin.jar\norg/a/A\n"
    assert merge([text]) == "org/a/A\n"


def test_rare_classes_are_left_out_where_only_common_ones_are_wanted():
    assert merge(["org/a/A\norg/a/A\norg/b/B id: 7\n", "org/b/B id: 9\n"], common=2) == "org/b/B\n"


def test_the_program_packs_the_list(tmp_path: Path):
    (tmp_path / "1.classes").write_text("org/b/B id: 7\n")
    (tmp_path / "2.classes").write_text("org/a/A\n")
    packed = tmp_path / "engine-1.0.classes.xz"
    program = [sys.executable, "-m", "svc_jupyter.service.installs.merge_class_lists"]
    subprocess.run([*program, tmp_path / "1.classes", tmp_path / "2.classes", packed], check=True)
    assert lzma.decompress(packed.read_bytes()) == b"org/a/A\norg/b/B\n"
