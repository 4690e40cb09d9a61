"""Every command and program of docs/how-to/conformance.md runs, with an emulator instead of the endpoint of the page."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from penstock.__main__ import main

DOC = (Path(__file__).resolve().parents[2] / "docs/how-to/conformance.md").read_text()
COMMANDS = [line for block in re.findall(r"^```sh\n(.*?)^```", DOC, re.M | re.S) for line in block.splitlines()]
PROGRAMS = re.findall(r"`(\w+\.py)`:\n\n```python\n(.*?)^```", DOC, re.M | re.S)
# Arguments that the test adds by the words of a command: they select a few of its checks, because all take too long.
LESS = {
    "wire express": ["--only", "wire/regions"],
    "sharding prefixes dcp-ranges": ["--only", "each-epoch", "--only", "exact", "--only", "no-byte-twice"],
    "s3torchconnector": ["--only", "each-epoch-whole"],
}


def less(command: str) -> list[str]:
    return next((more for words, more in reversed(LESS.items()) if words in command), [])


def test_the_page_has_commands_and_programs() -> None:
    assert len(COMMANDS) >= 8
    assert [name for name, _ in PROGRAMS] == ["my_client.py", "my_suite.py"]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_succeeds(command, standalone, tmp_path, monkeypatch, capsys) -> None:
    for name, text in PROGRAMS:
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    there = {"http://127.0.0.1:9000": standalone.endpoint, "http://127.0.0.1:9001": standalone.admin}
    there |= {"ID": standalone.access_key, "SECRET": standalone.secret_key}
    words = [there.get(word, word) for word in shlex.split(command)]
    assert words[0] == "penstock"
    status = main([*words[1:], *less(command)])
    printed = capsys.readouterr().out
    assert status == 0, printed
    assert " passed " in printed or "--list" in command
    for file in re.findall(r"report\.\w+", command):
        assert (tmp_path / file).stat().st_size > 500
