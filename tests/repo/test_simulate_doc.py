"""The `penstock simulate` commands of docs/how-to/simulate.md print the documented output."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from penstock.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = [
    (command, output)
    for command, output in re.findall(
        r"^```console\n\$ (penstock simulate [^\n]*)\n(.*?)^```", (ROOT / "docs/how-to/simulate.md").read_text(), re.M | re.S
    )
]


def test_the_page_has_examples() -> None:
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize(("command", "output"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_a_command_prints_its_documented_table(command: str, output: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(shlex.split(command)[1:])
    assert capsys.readouterr().out == output
    assert status == (1 if "FAILED" in output else 0)
