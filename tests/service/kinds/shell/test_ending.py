"""Where a script failed, as read from what Bash says."""

from __future__ import annotations

import subprocess
from pathlib import Path

from svc_jupyter.service.commands.kind import Task
from svc_jupyter.service.kinds.shell.ending import explain


def message_of(text: str, root: Path) -> str:
    """Run a script that fails, and return what is said of it."""
    root.mkdir()
    script = root / "script.sh"
    script.write_text(text)
    task = Task(1, 1, 1, 1, {}, root)
    with task.log_file.open("wb") as log:
        ended = subprocess.run(["bash", script], stdout=subprocess.DEVNULL, stderr=log)
    assert ended.returncode > 0
    return explain(ended.returncode, task, script)


FAILED_AT = {
    "echo a\nnosuch -x\n": "script, line 2: nosuch -x",
    "\n\n# a remark\nnosuch": "script, line 4: nosuch",
    "nosuch1\nnosuch2\n": "script, line 2: nosuch2",
    "cat <<END\nx\ny\nEND\nnosuch": "script, line 5: nosuch",
    "echo a\nnosuch \\\n -l \\\n  /tmp\n": "script, line 2: nosuch \\",
    "echo a\nf() {\n  nosuch\n}\nf\n": "script, line 3: nosuch",
    "echo a\n/nonexistent/program\n": "script, line 2: /nonexistent/program",
    "echo a\necho )\n": "script, line 2: echo )",
    "echo a\nfoo='abc\necho b\n": "script, line 2: foo='abc",
    "set -u\necho a\necho $nope\necho b\n": "script, line 3: echo $nope",
    "echo a\ncat </nonexistent\n\n# the end\n": "script, line 2: cat </nonexistent",
    f"echo a\nnosuch {'x' * 300}": f"script, line 2: nosuch {'x' * 113} …",
}


def test_the_line_that_a_script_failed_at_is_named_once(tmp_path: Path):
    messages = {script: message_of(script, tmp_path / str(number)) for number, script in enumerate(FAILED_AT)}
    assert {script: message.splitlines()[-1] for script, message in messages.items()} == FAILED_AT
    assert [message for message in messages.values() if message.count("script, line ") != 1] == []


def test_a_progress_bar_counts_as_one_line_and_colours_are_left_out(tmp_path: Path):
    message = message_of(
        "echo begun >&2\n"
        "for part in 1 2 3 4 5 6 7 8; do printf '\\r%d0 %% of it' $part >&2; done\n"
        "printf '\\n\\033[1;31mthe disk is full\\033[0m\\n' >&2\n"
        "exit 3\n",
        tmp_path / "script",
    )
    assert message == "the script exited with code 3\nbegun\n80 % of it\nthe disk is full"


ELSEWHERE = [
    "nosuch1\nls /nonexistent",  # another program failed, in another line
    "nosuch\nfalse",
    "cd /nonexistent\nfalse",
    "echo a\nbash -c 'nosuch'",  # the line is that of a script in the script
    "echo a\npython3 -c 'raise ValueError'",
    "echo 'line 1: fine' >&2\nfalse",
    "if true; then\necho a",  # it ends behind its last line
]


def test_a_line_that_cannot_be_reported_is_not_guessed(tmp_path: Path):
    messages = [message_of(script, tmp_path / str(number)) for number, script in enumerate(ELSEWHERE)]
    assert [message for message in messages if "script, line" in message] == []
