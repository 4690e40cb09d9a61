"""The report of a run as text, JSON and JUnit XML."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ._suite import Suite
from ._verdict import Outcome, Table, Verdict

SCHEMA = 1


@dataclasses.dataclass
class Report:
    """The verdicts of a run.

    Attributes:
        clients: Name and version of each client under test.
        suites: The suites of the run, in order.
        interrupted: The run ended before its last check.
    """

    endpoint: str
    seed: int
    thorough: bool
    clients: dict[str, str] = dataclasses.field(default_factory=dict)
    suites: list[Suite] = dataclasses.field(default_factory=list)
    verdicts: list[Verdict] = dataclasses.field(default_factory=list)
    interrupted: bool = False

    @property
    def failed(self) -> list[Verdict]:
        """Verdicts of the checks that failed."""
        return [verdict for verdict in self.verdicts if verdict.outcome == "failed"]

    def count(self, outcome: Outcome) -> int:
        """Number of checks with this outcome."""
        return sum(verdict.outcome == outcome for verdict in self.verdicts)

    def verdict(self, name: str, client: str | None = None) -> Verdict:
        """The verdict of ``suite/check``, for `client` if given.

        Raises:
            KeyError: the report has no such verdict.
        """
        for verdict in self.verdicts:
            if verdict.name == name and client in (None, verdict.client):
                return verdict
        raise KeyError(name)

    def document(self) -> dict[str, Any]:
        """The report as a JSON document."""
        return {
            "schema": SCHEMA,
            "endpoint": self.endpoint,
            "seed": self.seed,
            "thorough": self.thorough,
            "interrupted": self.interrupted,
            "clients": self.clients,
            "summary": {outcome: self.count(outcome) for outcome in ("passed", "failed", "not run")},
            "verdicts": [_verdict_document(verdict) for verdict in self.verdicts],
        }

    def junit(self) -> str:
        """The report as JUnit XML, with one `testsuite` per suite and client."""
        root = ElementTree.Element("testsuites", name="penstock conformance")
        for name, client in dict.fromkeys((verdict.suite, verdict.client) for verdict in self.verdicts):
            mine = [verdict for verdict in self.verdicts if (verdict.suite, verdict.client) == (name, client)]
            suite = ElementTree.SubElement(
                root,
                "testsuite",
                name=f"{name} ({client})" if client else name,
                tests=str(len(mine)),
                failures=str(sum(v.outcome == "failed" for v in mine)),
                skipped=str(sum(v.outcome == "not run" for v in mine)),
                time=f"{sum(v.seconds for v in mine):.3f}",
            )
            for verdict in mine:
                _junit_case(suite, verdict)
        ElementTree.indent(root)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"

    def text(self) -> str:
        """The report as text: the tables, one summary line per suite and client, and why checks were not run."""
        lines: list[str] = []
        for verdict in self.verdicts:
            for shown in verdict.tables:
                title = f"{verdict.suite}, {verdict.client}" if verdict.client else verdict.suite
                lines += [f"{title}: {shown.title}", *table_lines(shown), ""]
        lines += self._summary()
        return "\n".join(lines)

    def _summary(self) -> list[str]:
        rows = []
        reasons: Counter[str] = Counter()
        for name, client in dict.fromkeys((verdict.suite, verdict.client) for verdict in self.verdicts):
            mine = [verdict for verdict in self.verdicts if (verdict.suite, verdict.client) == (name, client)]
            outcomes = Counter(verdict.outcome for verdict in mine)
            reasons.update(verdict.reason for verdict in mine if verdict.outcome == "not run")
            counts = [outcomes[outcome] for outcome in ("passed", "failed", "not run")]
            rows.append([name, client or "(the server)", *counts, f"{sum(verdict.seconds for verdict in mine):.1f} s"])
        lines = table_lines(Table("", ("suite", "client", "passed", "failed", "not run", "time"), rows))
        return [*lines, *(f"not run: {count} ({reason})" for reason, count in reasons.items())]


def verdict_text(verdict: Verdict, verbose: bool = True) -> str:
    """A verdict as lines of text; without `verbose`, the empty string unless the check failed."""
    name = f"{verdict.name} [{verdict.client}]" if verdict.client else verdict.name
    if verdict.outcome == "failed":
        return "\n".join([f"FAILED  {name}: {verdict.claim}", *(f"    {problem}" for problem in verdict.problems)])
    if not verbose:
        return ""
    return f"passed  {name}" if verdict.outcome == "passed" else f"not run {name}: {verdict.reason}"


def table_lines(table: Table) -> list[str]:
    """A table in plain text. Columns of numbers are right-aligned."""
    rows = [[cell_text(value) for value in row] for row in table.rows]
    widths = [max(len(row[i]) for row in [list(table.head), *rows]) for i in range(len(table.head))]
    numeric = [bool(table.rows) and all(isinstance(row[i], (int, float)) for row in table.rows) for i in range(len(table.head))]

    def line(cells: Sequence[str]) -> str:
        return "  ".join(
            cell.rjust(width) if right else cell.ljust(width) for cell, width, right in zip(cells, widths, numeric, strict=True)
        ).rstrip()

    return [line(list(table.head)), *map(line, rows)]


def cell_text(value: Any) -> str:
    """A table cell as text."""
    if isinstance(value, float):
        return f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _verdict_document(verdict: Verdict) -> dict[str, Any]:
    return {
        "suite": verdict.suite,
        "check": verdict.check,
        "claim": verdict.claim,
        "client": verdict.client,
        "outcome": verdict.outcome,
        "problems": verdict.problems,
        "reason": verdict.reason,
        "seconds": round(verdict.seconds, 3),
        "evidence": verdict.evidence,
        "tables": [{"title": t.title, "head": list(t.head), "rows": [list(row) for row in t.rows]} for t in verdict.tables],
    }


def _junit_case(suite: ElementTree.Element, verdict: Verdict) -> None:
    case = ElementTree.SubElement(
        suite, "testcase", classname=f"conformance.{verdict.suite}", name=verdict.check, time=f"{verdict.seconds:.3f}"
    )
    if verdict.outcome == "failed":
        failure = ElementTree.SubElement(case, "failure", message=_clean(verdict.claim))
        failure.text = _clean("\n".join(verdict.problems))
    elif verdict.outcome == "not run":
        ElementTree.SubElement(case, "skipped", message=_clean(verdict.reason))


def _clean(text: str) -> str:
    """Replaces the control characters that XML 1.0 cannot represent."""
    return "".join(c if c in "\n\t" or c >= " " else "?" for c in text)


def check_writable(path: Path) -> None:
    """Fails before the run if the report cannot be written after it.

    Raises:
        OSError: a report cannot be written to `path`.
    """
    if path.is_dir():
        raise IsADirectoryError(f"cannot write a report to '{path}': it is a directory; give a file name")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot write a report to '{path}': the directory '{path.parent}' does not exist")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise PermissionError(f"cannot write a report to '{path}': permission denied")
