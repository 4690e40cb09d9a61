"""The completion of penstock-emulator: loaded in bash; in zsh and fish where these are installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import emulator_completion
from emulator_options import help_text, options

SHOW = """
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_penstock_emulator
printf '%s\n' "${COMPREPLY[@]}"
complete -p penstock-emulator >&2
"""


@pytest.fixture
def complete(tmp_path):
    """Returns what bash offers for the last of some words."""
    (tmp_path / "script").write_text(emulator_completion.script("bash"))
    (tmp_path / "a folder").mkdir()
    (tmp_path / "a file").write_text("")

    def run(*words: str) -> list[str]:
        command = ["bash", "-c", SHOW, "bash", "./script", "penstock-emulator", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stderr == "complete -F _penstock_emulator penstock-emulator\n"
        return sorted(filter(None, done.stdout.splitlines()))

    return run


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["--dura"], ["--durability"]),
        (["--durability", ""], ["relaxed", "strict"]),
        (["--durability", "=", "s"], ["strict"]),
        (["--durability", "="], ["relaxed", "strict"]),
        (["--data", "a"], ["a folder"]),
        (["--tls-cert", "a"], ["a file", "a folder"]),
        (["--limits", "a"], ["a file", "a folder", "aws-express", "aws-standard", "aws-strict"]),
        (["--port", ""], []),
        (["f"], ["fsck"]),
        (["--port", "9000", "f"], []),
        (["fsck", "--ac"], ["--accept-loss"]),
        (["fsck", "a"], ["a folder"]),
        (["fsck", "--port"], []),
        (["h"], ["health"]),
        (["health", "--j"], ["--json"]),
        (["health", "--data"], []),
    ],
)
def test_bash_completes_options_and_values(complete, words, offered) -> None:
    assert complete(*words) == offered


def test_bash_offers_every_option(complete) -> None:
    assert complete("--") == sorted([*(f"--{each.name}" for each in options(help_text())), "--help", "--version"])
    assert complete("fsck", "--") == sorted([*(f"--{each.name}" for each in options(help_text("fsck"))), "--help"])
    assert complete("health", "--") == ["--help", "--host", "--json", "--port"]


def test_files_and_values_are_those_of_options() -> None:
    names = {each.name for each in options(help_text()) if each.value}
    assert emulator_completion.FILES | emulator_completion.DIRECTORIES | emulator_completion.VALUES.keys() <= names


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_scripts_of_other_shells_have_every_option(shell, tmp_path) -> None:
    script = emulator_completion.script(shell)
    flag = "--{}" if shell == "zsh" else "-l {} "
    found = [each.name for words in ((), ("fsck",), ("health",)) for each in options(help_text(*words))]
    assert [name for name in found if flag.format(name) not in script] == []
    if shutil.which(shell):
        (tmp_path / "script").write_text(script)
        subprocess.run([shell, "-n", "script"], cwd=tmp_path, check=True)
