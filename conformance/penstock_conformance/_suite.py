"""What a suite is made of: checks that claim something, trials of them, and the verdicts that come of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from ._admin import Admin
    from ._bench import Bench
    from ._proxy import RecordingProxy
    from ._records import Records
    from ._store import Store
    from .clients import Client

Outcome = Literal["passed", "failed", "not run"]
MOST_PROBLEMS = 20  # of one check that a report names


class NotRun(BaseException):
    """Raised in a check: it cannot be run here. The text says what is missing, and how to give it.

    No ``Exception``: a check that takes whatever its client raises for the client's failure does not take this for one.
    """


class Failed(Exception):
    """Raised in a check: it failed, and nothing that follows in it would mean anything."""


@dataclass(frozen=True)
class Table:
    """Figures of a check, for the reader of a report. Cells are text or numbers."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Chart:
    """Lines over a common axis.

    Attributes:
        title: What it shows.
        x_label, y_label: What the axes count, with the unit.
        lines: Of each its name and its points (x, y).
        logarithmic: Equal steps of x are doublings.
    """

    title: str
    x_label: str
    y_label: str
    lines: Sequence[tuple[str, Sequence[tuple[float, float]]]]
    logarithmic: bool = False


@dataclass
class Verdict:
    """What became of a check.

    Attributes:
        suite, check, claim: Which one.
        client: Whose requests were judged; empty: the check judges the server alone.
        problems: How the claim was broken; empty where it was not.
        reason: Why it was not run.
        evidence: What was seen, for other programs; JSON.
        seconds: How long it took.
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


@dataclass(frozen=True)
class Check:
    """A claim, and the function that tries it.

    Attributes:
        name: Of lower-case words with hyphens; unique in its suite.
        claim: A sentence that is true or false of a client or server.
        run: Tries it. Says what is wrong by ``trial.expect`` or by raising; returning means that it was tried to its end.
    """

    name: str
    claim: str
    run: Callable[[Trial], None]


class Suite:
    """Named checks about one thing.

    Args:
        name: As on the command line.
        title: As in a report's heading.
        about: What it proves, in a sentence or two.
        judges: "client": every client under test in turn; "server": the endpoint, once.
        resource: Opened before the first check and closed behind the last one; ``trial.resource`` is what it gives.
    """

    def __init__(
        self,
        name: str,
        title: str,
        about: str,
        *,
        judges: Literal["client", "server"] = "client",
        resource: Callable[[Bench], AbstractContextManager[Any]] | None = None,
    ) -> None:
        self.name = name
        self.title = title
        self.about = about
        self.judges = judges
        self._resource = resource
        self._checks: list[Check] = []
        self._sources: list[Callable[[Bench], Iterable[Check]]] = []

    def check(self, name: str, claim: str) -> Callable[[Callable[[Trial], None]], Callable[[Trial], None]]:
        """Decorates a function of a :class:`Trial`: it is a check from then on."""

        def add(function: Callable[[Trial], None]) -> Callable[[Trial], None]:
            self._checks.append(Check(name, claim, function))
            return function

        return add

    def generate(self, source: Callable[[Bench], Iterable[Check]]) -> Callable[[Bench], Iterable[Check]]:
        """Decorates a function that gives further checks, such as one for each row of a table."""
        self._sources.append(source)
        return source

    def checks(self, bench: Bench) -> list[Check]:
        """All of them, in order.

        Raises:
            ValueError: two have one name.
        """
        found = [*self._checks, *(check for source in self._sources for check in source(bench))]
        names = [check.name for check in found]
        twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
        if twice:
            raise ValueError(f"suite {self.name} has two checks of one name: {', '.join(twice)}")
        return found

    def open(self, bench: Bench) -> AbstractContextManager[Any]:
        """What its checks share."""
        return self._resource(bench) if self._resource else nullcontext()


class Trial:
    """One run of one check: what it may use, and where it says what it found.

    Attributes:
        random: Follows from the run's seed and the check's name.
        thorough: Whether to try everything, or a sample that a gate can afford.
        resource: Of the suite.
    """

    def __init__(self, bench: Bench, verdict: Verdict, client: Client | None, resource: Any) -> None:
        self.bench = bench
        self.verdict = verdict
        self.resource = resource
        self.thorough = bench.thorough
        self.random = Random(f"{bench.seed}/{verdict.name}")
        self._client = client

    # ---- what there is to use

    @property
    def client(self) -> Client:
        """The client under test; its requests go through :attr:`proxy`."""
        if self._client is None:
            raise NotRun("judges a client, and none was given; add --client")
        return self._client

    @property
    def store(self) -> Store:
        """Objects by the endpoint itself, past every proxy: for what a check prepares and looks at."""
        return self.bench.store

    @property
    def proxy(self) -> RecordingProxy:
        """Between the client under test and the endpoint."""
        return self.bench.proxy

    @property
    def records(self) -> Records:
        """What the client under test has asked since the check began, or since :meth:`forget`."""
        return self.bench.proxy.records()

    @property
    def admin(self) -> Admin:
        """The endpoint's admin API, of a Penstock emulator."""
        return self.admin_for("limits, faults or a clock")

    def admin_for(self, what: str) -> Admin:
        """The same, where the reader of a report shall know what of it the check needs, such as "limits of requests"."""
        if self.bench.admin is None:
            raise NotRun(f"needs {what} that a check can set: a Penstock emulator, with --admin URL")
        return self.bench.admin

    def forget(self) -> None:
        """What was asked so far is no part of :attr:`records` any more."""
        self.bench.proxy.forget()

    def bucket(self) -> str:
        """A new, empty bucket, removed with its objects when the check has ended."""
        return self.bench.new_bucket()

    def sample(self, all_of: Sequence[Any], most: int) -> list[Any]:
        """All of them where the run is thorough, otherwise `most`, chosen by the seed, in their order."""
        if self.thorough or len(all_of) <= most:
            return list(all_of)
        return [all_of[i] for i in sorted(self.random.sample(range(len(all_of)), most))]

    # ---- what was found

    def expect(self, condition: object, problem: str) -> bool:
        """Notes `problem` unless the condition holds; whether it does."""
        if not condition:
            self.verdict.problems.append(problem)
        return bool(condition)

    def expect_equal(self, found: Any, wanted: Any, what: str) -> bool:
        """Notes both where they differ."""
        return self.expect(found == wanted, f"{what}: expected {_short(wanted)}, found {_short(found)}")

    def evidence(self, **members: Any) -> None:
        """What was seen, for the machine-readable report; JSON."""
        self.verdict.evidence.update(members)

    def table(self, title: str, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Figures for the readable report."""
        self.verdict.tables.append(Table(title, head, rows))

    def chart(self, chart: Chart) -> None:
        """A drawing for the report in HTML."""
        self.verdict.charts.append(chart)

    @contextmanager
    def case(self, name: str) -> Iterator[None]:
        """Problems noted inside begin with `name`; an exception fails this case and not the others."""
        before = len(self.verdict.problems)
        try:
            yield
        except Exception as error:
            self.verdict.problems.append(f"{type(error).__name__}: {error}")
        for i in range(before, len(self.verdict.problems)):
            self.verdict.problems[i] = f"{name}: {self.verdict.problems[i]}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:200]}... ({len(text)} characters)"
