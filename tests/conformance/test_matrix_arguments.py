"""``python -m penstock_conformance.matrix``: what cannot be run is told before the first cell, and by its name."""

from __future__ import annotations

import json

import pytest
from penstock_conformance.matrix import __main__ as matrix
from penstock_conformance.matrix.judge import Outcome

KEPT = json.dumps(vars(Outcome("head/small/curl/HeadObject#1/once/slow_down", "right", 1, 2, 0.1)))


@pytest.fixture
def never_planned(monkeypatch):
    """A run that gets as far as its plan has taken what it was told."""

    def plan(*_, **__):
        raise AssertionError("the run began")

    monkeypatch.setattr(matrix, "plan", plan)


@pytest.mark.usefixtures("never_planned")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--operation", "nosuch"], "'nosuch' is no operation; --operation takes get whole, "),
        (["--operation", "head", "--operation", "nosuch"], "'nosuch' is no operation"),
        (["--sample", "-3"], "'-3' is no count; it takes 1 or more"),
        (["--sample", "0"], "'0' is no count"),
        (["--processes", "0"], "'0' is no count"),
        (["--resume", "/nonexistent/x"], "there is no folder '/nonexistent'"),
        (["--json", "/nonexistent/x.json"], "there is no folder '/nonexistent'"),
        (["--markdown", "/nonexistent/x.md"], "there is no folder '/nonexistent'"),
        (["--html", "/"], "'/' is a folder"),
    ],
)
def test_an_argument_that_cannot_be_followed_is_an_error(capsys, arguments, says):
    with pytest.raises(SystemExit) as ended:
        matrix.main(arguments)
    assert ended.value.code == 2
    assert says in capsys.readouterr().err


@pytest.mark.usefixtures("never_planned")
@pytest.mark.parametrize("damage", ["not json", "[]", '{"cell": "a"}'])
def test_a_damaged_line_of_an_earlier_run_is_told_by_its_number(tmp_path, capsys, damage):
    (tmp_path / "kept").write_text(f"{KEPT}\n{damage}\n{KEPT}\n")
    with pytest.raises(SystemExit) as ended:
        matrix.main(["--resume", str(tmp_path / "kept")])
    assert ended.value.code == 2
    assert f"line 2 of '{tmp_path / 'kept'}' is no outcome" in capsys.readouterr().err


def test_a_last_line_that_a_killed_run_left_goes(tmp_path, monkeypatch, capsys):
    """What is written behind it would be one line with it."""
    (tmp_path / "kept").write_text(f"{KEPT}\n{KEPT[:40]}")
    monkeypatch.setattr(matrix, "plan", lambda *_, **__: [])
    with pytest.raises(SystemExit):
        matrix.main(["--resume", str(tmp_path / "kept")])
    assert (tmp_path / "kept").read_text() == f"{KEPT}\n"
    assert "was not written to its end" in capsys.readouterr().err


def test_a_cell_that_nobody_knows_is_an_error(monkeypatch, capsys):
    monkeypatch.setattr(matrix, "plan", lambda *_, **__: [])
    with pytest.raises(SystemExit) as ended:
        matrix.main(["--cell", "nosuch"])
    assert ended.value.code == 2
    assert "no cell's name contains 'nosuch'" in capsys.readouterr().err
