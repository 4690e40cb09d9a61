"""The command line of the fault matrix reports errors before the first cell."""

from __future__ import annotations

import json

import pytest
from penstock_conformance.matrix import __main__ as matrix
from penstock_conformance.matrix.actions import every_action
from penstock_conformance.matrix.cells import may_name_a_cell
from penstock_conformance.matrix.judge import Outcome
from penstock_conformance.matrix.lanes import every_operation

OUTCOME = json.dumps(vars(Outcome("head/small/HeadObject#1/once/slow_down", "right", 1, 2, 0.1)))


@pytest.fixture
def never_planned(monkeypatch):
    """Fails if the run starts to plan its cells."""

    def plan(*_, **__):
        raise AssertionError("the run began")

    monkeypatch.setattr(matrix, "plan", plan)


@pytest.mark.usefixtures("never_planned")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--operation", "nosuch"], "unknown operation 'nosuch': expected get whole, "),
        (["--operation", "head", "--operation", "nosuch"], "unknown operation 'nosuch'"),
        (["--sample", "-3"], "invalid count '-3': expected a number of at least 1"),
        (["--sample", "0"], "invalid count '0'"),
        (["--processes", "0"], "invalid count '0'"),
        (["--resume", "/nonexistent/x"], "the directory '/nonexistent' does not exist"),
        (["--json", "/nonexistent/x.json"], "the directory '/nonexistent' does not exist"),
        (["--markdown", "/nonexistent/x.md"], "the directory '/nonexistent' does not exist"),
        (["--html", "/"], "is a directory"),
    ],
)
def test_an_invalid_argument_is_an_error(capsys, arguments, says):
    with pytest.raises(SystemExit) as ended:
        matrix.main(arguments)
    assert ended.value.code == (1 if "directory" in says else 2)
    assert says in capsys.readouterr().err


@pytest.mark.usefixtures("never_planned")
@pytest.mark.parametrize("damage", ["not json", "[]", '{"cell": "a"}'])
def test_a_damaged_line_of_an_earlier_run_is_reported_with_its_number(tmp_path, capsys, damage):
    (tmp_path / "outcomes").write_text(f"{OUTCOME}\n{damage}\n{OUTCOME}\n")
    with pytest.raises(SystemExit) as ended:
        matrix.main(["--resume", str(tmp_path / "outcomes")])
    assert ended.value.code == 2
    assert f"line 2 of '{tmp_path / 'outcomes'}' is not an outcome" in capsys.readouterr().err


def test_an_incomplete_last_line_is_removed(tmp_path, monkeypatch, capsys):
    """A killed run can leave one. The next outcome would otherwise be appended to it."""
    (tmp_path / "outcomes").write_text(f"{OUTCOME}\n{OUTCOME[:40]}")
    monkeypatch.setattr(matrix, "plan", lambda *_, **__: [])
    with pytest.raises(SystemExit):
        matrix.main(["--resume", str(tmp_path / "outcomes")])
    assert (tmp_path / "outcomes").read_text() == f"{OUTCOME}\n"
    assert "is incomplete" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["nosuch", "put/nosuch", "GetObject#x", "GetObject#1/twice"])
def test_an_unknown_cell_is_an_error_before_any_operation_runs(monkeypatch, capsys, text):
    monkeypatch.setattr(matrix, "plan", lambda *_, **__: pytest.fail("the operations ran"))
    with pytest.raises(SystemExit) as ended:
        matrix.main(["--cell", text])
    assert ended.value.code == 2
    assert f"no cell name contains '{text}'" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "put/small", "Object#1/once", "direct/GetObject#12/always/", "connection#1", "bject#"])
def test_the_names_of_possible_cells_are_accepted(text):
    assert may_name_a_cell(text, every_operation(), every_action())


def test_a_cell_without_requests_is_an_error(monkeypatch, capsys):
    monkeypatch.setattr(matrix, "plan", lambda *_, **__: [])
    with pytest.raises(SystemExit) as ended:
        matrix.main(["--cell", "UploadPart#9"])
    assert ended.value.code == 2
    assert "no cell name contains 'UploadPart#9'" in capsys.readouterr().err
