"""The tables of benchmark figures: compared with the goals, and written between the marks of the document."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("PENSTOCK_BUILD_DIR", "build")
    monkeypatch.syspath_prepend(str(BENCH))
    yield
    for name in ("chart", "doc", "goals", "harness", "run", "scenarios"):
        sys.modules.pop(name, None)


def row(name: str, ours: float, **peers: float):
    harness = importlib.import_module("harness")
    return harness.Row(name, "GB/s", ours, dict(peers), {peer: ours / value for peer, value in peers.items()}, 3, 0.1)


def test_rows_are_compared_with_bounds_and_with_peers(monkeypatch):
    doc, scenarios = importlib.import_module("doc"), importlib.import_module("scenarios")
    monkeypatch.setattr(doc, "scenario_of", lambda row: scenarios.Scenario(f"scenario of {row}", "C++", "25 ms"))
    goals = {"a": [(">=", 2, "moto")], "b": [("<=", 1)], "c": [(">=", 1, "absent")], "d": [("<=", 1)]}
    table = doc.table([row("a", 4, moto=2, without=1), row("b", 1.5), row("c", 9), row("e", 1)], goals)
    verdicts = {line.split("|")[1].strip(): line.split("|")[8].strip() for line in table.splitlines()[2:]}
    assert verdicts == {"`a`": "met", "`b`": "missed", "`c`": "missed", "`e`": "", "`d`": ""}
    moto = f"moto {doc.version('moto')} (Python) 2 (2x); without 1 (4x)"
    first = f"| `a` | scenario of a | GB/s, higher | 25 ms | 4 (C++) | {moto} | ≥ 2 x moto | met | 10% (3) |"
    assert f"{first} {doc.today()}, {doc.commit()} |" in table
    assert "| `d` | | | | not measured |" in table


@pytest.mark.parametrize(
    ("unit", "better"),
    [
        ("GB/s", "higher"),
        ("requests/CPU-s", "higher"),
        ("CPU-s/GB", "lower"),
        ("ms", "lower"),
        ("% of the allowed rate", "higher"),
    ],
)
def test_a_unit_has_a_better_direction(unit, better):
    assert importlib.import_module("scenarios").direction(unit) == better


def test_the_chart_is_drawn_with_its_table(monkeypatch, tmp_path):
    chart, run = importlib.import_module("chart"), importlib.import_module("run")
    page = tmp_path / "performance.md"
    page.write_text(chart.page_of_figures().read_text())
    drawn: list[str] = []
    monkeypatch.setattr(chart, "main", lambda: drawn.append("chart"))
    monkeypatch.setattr(run.doc, "table", lambda rows, goals: "")
    run.write_figures(page, {"tls": []})
    assert drawn == [], "figures of another file"
    monkeypatch.setattr(chart, "page_of_figures", lambda: page)
    run.write_figures(page, {"client": []})
    assert drawn == []
    run.write_figures(page, {"tls": []})
    assert drawn == ["chart"]


def test_every_row_of_the_document_has_a_scenario_a_language_a_latency_and_a_date():
    scenarios = importlib.import_module("scenarios")
    page = next((BENCH.parent / "docs").glob("**/performance.md")).read_text()
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in page.splitlines() if line.startswith("| `")]
    figures = [cells for cells in rows if len(cells) >= 9]
    assert len(figures) > 150
    for cells in figures:
        expected = scenarios.scenario_of(cells[0].strip("`"))
        assert (cells[1], cells[3]) == (expected.text, expected.latency), cells[0]
        assert cells[4].endswith(f"({expected.language})"), cells[0]
        assert re.search(r", (higher|lower)$", cells[2]), cells[0]
        assert re.fullmatch(r"\d{4}-\d\d-\d\d, [0-9a-f]{8}(-dirty)?", cells[-1]), cells[0]


def test_every_goal_has_a_scenario():
    scenarios = importlib.import_module("scenarios")
    for goals in importlib.import_module("goals").GOALS.values():
        for name in goals:
            assert scenarios.scenario_of(name) is not scenarios.UNKNOWN, name


def test_a_table_names_date_commit_processor_and_versions():
    line = importlib.import_module("doc").conditions()
    assert re.fullmatch(r"\nMeasured \d{4}-\d\d-\d\d, commit \S+, .+, \d+ cores, Python 3\.\S+, boto3 .+, torch .+\.\n", line)


def test_only_the_text_between_the_marks_is_replaced():
    doc = importlib.import_module("doc")
    text = "one\n<!-- figures: client -->\nold\n<!-- end of figures: client -->\ntwo\n"
    assert doc.replace_figures(text, "client", "new\n") == text.replace("old", "new")
    with pytest.raises(ValueError, match="figures: emulator"):
        doc.replace_figures(text, "emulator", "new\n")


def test_the_document_has_marks_for_every_group_with_goals():
    doc = importlib.import_module("doc")
    text = (BENCH.parent / "docs/explanation/performance.md").read_text()
    for group, goals in importlib.import_module("goals").GOALS.items():
        assert f"<!-- figures: {group} -->" in text
        for name, bounds in goals.items():
            assert bounds and all(bound[0] in doc.RELATIONS for bound in bounds), name
