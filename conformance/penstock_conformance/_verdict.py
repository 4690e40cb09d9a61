"""The result of a check, and the tables and charts that belong to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Outcome = Literal["passed", "failed", "not run"]


class NotRun(BaseException):
    """Raised by a check that cannot run here. The text names what is missing and how to provide it.

    Not an ``Exception``, so that a check which catches all exceptions of its client does not catch this one.
    """


class Failed(Exception):
    """Raised by a check that failed and cannot continue."""


@dataclass(frozen=True)
class Table:
    """A table in the report. Cells are text or numbers."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Chart:
    """A line chart.

    Attributes:
        title: What the chart shows.
        x_label, y_label: Axis labels, with units.
        lines: For each line its name and its points (x, y).
        logarithmic: Logarithmic x axis, base 2.
    """

    title: str
    x_label: str
    y_label: str
    lines: Sequence[tuple[str, Sequence[tuple[float, float]]]]
    logarithmic: bool = False


@dataclass
class Verdict:
    """The result of a check.

    Attributes:
        suite, check, claim: Identify the check.
        client: Name of the client under test; empty if the check tests the server only.
        problems: How the claim was violated; empty unless the check failed.
        reason: Why the check was not run.
        evidence: Observations as JSON values, for other programs.
        seconds: Duration.
    """

    suite: str
    check: str
    claim: str
    client: str = ""
    outcome: Outcome = "passed"
    problems: list[str] = field(default_factory=list)
    reason: str = ""
    evidence: dict[str, Any] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """``suite/check``."""
        return f"{self.suite}/{self.check}"
