"""Suites, their checks, and trials: the interface between a check and the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from ._admin import Admin
from ._bench import Bench
from ._proxy import RecordingProxy
from ._records import Records
from ._store import Store
from ._verdict import Chart, NotRun, Table, Verdict
from .clients import Client


@dataclass(frozen=True)
class Check:
    """A claim and the function that tests it.

    Attributes:
        name: Lower-case words joined by hyphens; unique in the suite.
        claim: A sentence that is true or false of a client or server.
        run: The test. It reports problems through ``trial.expect`` or by raising.
    """

    name: str
    claim: str
    run: Callable[[Trial], None]


class Suite:
    """A group of checks.

    Args:
        name: Name on the command line.
        title: Heading in reports.
        about: Description in one or two sentences.
        judges: "client": run once per client under test; "server": run once, against the endpoint.
        resource: Context manager around the suite's checks; its value is ``trial.resource``.
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
        """Decorator that adds a function of a :class:`Trial` as a check."""

        def add(function: Callable[[Trial], None]) -> Callable[[Trial], None]:
            self._checks.append(Check(name, claim, function))
            return function

        return add

    def generate(self, source: Callable[[Bench], Iterable[Check]]) -> Callable[[Bench], Iterable[Check]]:
        """Decorator for a function that generates checks, for example one per row of a table."""
        self._sources.append(source)
        return source

    def checks(self, bench: Bench) -> list[Check]:
        """All checks, in order.

        Raises:
            ValueError: two checks have the same name.
        """
        found = [*self._checks, *(check for source in self._sources for check in source(bench))]
        names = [check.name for check in found]
        duplicates = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
        if duplicates:
            raise ValueError(f"suite {self.name}: duplicate check names: {', '.join(duplicates)}")
        return found

    def open(self, bench: Bench) -> AbstractContextManager[Any]:
        """The resource that the suite's checks share."""
        return self._resource(bench) if self._resource else nullcontext()


class Trial:
    """One run of a check: what it can use, and where it reports its findings.

    Attributes:
        random: Seeded with the run's seed and the check's name.
        thorough: Whether to run everything instead of a sample.
        resource: The suite's resource.
    """

    def __init__(self, bench: Bench, verdict: Verdict, client: Client | None, resource: Any) -> None:
        self.bench = bench
        self.verdict = verdict
        self.resource = resource
        self.thorough = bench.thorough
        self.random = Random(f"{bench.seed}/{verdict.name}")
        self._client = client

    # ---- what a check can use

    @property
    def client(self) -> Client:
        """The client under test. Its requests pass through :attr:`proxy`."""
        if self._client is None:
            raise NotRun("tests a client, and none was given; add --client")
        return self._client

    @property
    def store(self) -> Store:
        """Direct access to the endpoint, without the proxy: for the check's own preparation and inspection."""
        return self.bench.store

    @property
    def proxy(self) -> RecordingProxy:
        """The proxy between the client under test and the endpoint."""
        return self.bench.proxy

    @property
    def records(self) -> Records:
        """Requests of the client under test since the check began or since :meth:`forget`."""
        return self.bench.proxy.records()

    @property
    def admin(self) -> Admin:
        """The admin API of the endpoint, which must be a Penstock emulator."""
        return self.admin_for("limits, faults or a clock")

    def admin_for(self, what: str) -> Admin:
        """The admin API.

        Args:
            what: What the check needs of it, such as "request limits", for the reason in reports.

        Raises:
            NotRun: the run has no admin API.
        """
        if self.bench.admin is None:
            raise NotRun(f"needs control of {what}: a Penstock emulator with --admin URL")
        return self.bench.admin

    def forget(self) -> None:
        """Clears :attr:`records`."""
        self.bench.proxy.forget()

    def bucket(self) -> str:
        """Creates an empty bucket. It is deleted with its objects after the check."""
        return self.bench.new_bucket()

    def sample(self, items: Sequence[Any], size: int) -> list[Any]:
        """All items if the run is thorough, otherwise `size` of them, selected by the seed, in their order."""
        if self.thorough or len(items) <= size:
            return list(items)
        return [items[i] for i in sorted(self.random.sample(range(len(items)), size))]

    # ---- findings

    def expect(self, condition: object, problem: str) -> bool:
        """Records `problem` unless the condition holds. Returns whether it holds."""
        if not condition:
            self.verdict.problems.append(problem)
        return bool(condition)

    def expect_equal(self, found: Any, wanted: Any, what: str) -> bool:
        """Records a problem with both values if they differ. Returns whether they are equal."""
        return self.expect(found == wanted, f"{what}: expected {_short(wanted)}, found {_short(found)}")

    def evidence(self, **members: Any) -> None:
        """Adds observations, as JSON values, to the JSON report."""
        self.verdict.evidence.update(members)

    def table(self, title: str, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Adds a table to the text and HTML reports."""
        self.verdict.tables.append(Table(title, head, rows))

    def chart(self, chart: Chart) -> None:
        """Adds a chart to the HTML report."""
        self.verdict.charts.append(chart)

    @contextmanager
    def case(self, name: str) -> Iterator[None]:
        """Prefixes problems found inside with `name`. An exception inside is a problem of this case; the check continues."""
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
