"""docs/reference/settings.md has the table of the built emulator's options, and its example is a valid file."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from penstock_emulator import Emulator

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from emulator_options import help_text, options
from settings_page import PAGE, cpp_members, cpp_names, table

PROGRAM = Path(os.environ["PENSTOCK_BUILD_DIR"], "emulator/server/penstock-emulator")


def test_the_page_has_the_current_table() -> None:
    assert table() in PAGE.read_text(), "run ./dev python tools/settings_page.py --write"


def test_every_python_argument_is_an_option() -> None:
    names = {option.name.replace("-", "_") for option in options(help_text())} | {"access_keys", "event_sinks"}
    assert inspect.signature(Emulator).parameters.keys() - names == set()


def test_every_cpp_member_is_of_an_option() -> None:
    members = cpp_members()
    assert len(members) > 25
    named = {name for option in options(help_text()) for name in cpp_names(option)}
    assert named == set(members)


def test_the_example_starts_the_emulator(tmp_path: Path) -> None:
    [example] = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    for name in ("trainer", "evaluator"):
        (tmp_path / name).write_text(f"secret-of-{name}\n")
    text = example.replace("/var/lib/penstock-emulator", str(tmp_path / "data")).replace("/etc/penstock/", f"{tmp_path}/")
    (tmp_path / "emulator.toml").write_text(text)
    command = [str(PROGRAM), "--config", str(tmp_path / "emulator.toml"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["event"] == "ready"
        process.terminate()
    assert process.returncode == 0
    assert (tmp_path / "data").is_dir()
