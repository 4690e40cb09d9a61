"""The bench: an endpoint, a proxy in front of it, and the run of suites over clients under test."""

from __future__ import annotations

import dataclasses
import os
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from penstock._offline_environment import environment_set, offline_environment

from ._proxy import RecordingProxy
from ._report import Report
from ._store import Store
from ._suite import MOST_PROBLEMS, Check, Failed, NotRun, Suite, Trial, Verdict

if TYPE_CHECKING:
    from ._admin import Admin
    from .clients import Client


Made = TypeVar("Made")


def _ca_of_environment() -> str | None:
    return os.environ.get("AWS_CA_BUNDLE") or None


@dataclass(frozen=True)
class Access:
    """An endpoint and the key that may do everything there.

    Attributes:
        ca: PEM file to trust over https; what ``AWS_CA_BUNDLE`` names unless given, None: what the system trusts.
    """

    endpoint: str
    access_key: str
    secret_key: str = field(repr=False)
    region: str = "us-east-1"
    session_token: str | None = field(default=None, repr=False)
    ca: str | None = field(default_factory=_ca_of_environment)

    def at(self, endpoint: str) -> Access:
        """The same by another way."""
        return dataclasses.replace(self, endpoint=endpoint)

    def environment(self) -> dict[str, str | None]:
        """What makes AWS SDKs use it and nothing else."""
        return offline_environment(
            {
                "AWS_ENDPOINT_URL": self.endpoint,
                "AWS_ACCESS_KEY_ID": self.access_key,
                "AWS_SECRET_ACCESS_KEY": self.secret_key,
                "AWS_REGION": self.region,
                "AWS_DEFAULT_REGION": self.region,
                **({"AWS_SESSION_TOKEN": self.session_token} if self.session_token else {}),
                **({"AWS_CA_BUNDLE": self.ca} if self.ca else {}),
            }
        )


class Bench:
    """What the checks of a run share. A context manager; what it made at the endpoint is removed behind it.

    Args:
        access: The endpoint under test.
        admin: Its admin API, of a Penstock emulator; None: checks that need one are not run.
        seed: What samples are chosen by.
        thorough: Everything, instead of a sample.
        second: A key of another account, for the wire cases that need one.

    Raises:
        ValueError, OSError: the endpoint is none, or its certificate cannot be read.
    """

    def __init__(
        self,
        access: Access,
        *,
        admin: Admin | None = None,
        seed: int = 1,
        thorough: bool = False,
        second: Access | None = None,
    ) -> None:
        if urlsplit(access.endpoint).scheme not in ("http", "https"):
            raise ValueError(f"'{access.endpoint}' is no endpoint; write http://host:port or https://host")
        self.access = access
        self.admin = admin
        self.seed = seed
        self.thorough = thorough
        self.second = second
        self.store = Store(access)
        self.proxy = RecordingProxy(access)
        self._prefix = f"conf-{secrets.token_hex(4)}"
        self._made: list[str] = []
        self._numbers = 0
        self._kept: dict[str, Any] = {}

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.clean_up()
        self.proxy.close()

    def new_bucket(self, suffix: str = "") -> str:
        """An empty bucket; `suffix` ends its name. Removed by :meth:`clean_up`."""
        name = self.new_name(suffix)
        self.store.create_bucket(name)
        self._made.append(name)
        return name

    def new_name(self, suffix: str = "") -> str:
        """A bucket's name that nobody has."""
        self._numbers += 1
        return f"{self._prefix}-{self._numbers}{suffix}"

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        """What `make` gives, made at the first call with this name and kept: for what several checks look at."""
        if name not in self._kept:
            self._kept[name] = make()
        made: Made = self._kept[name]
        return made

    def clean_up(self) -> None:
        """Removes the buckets that were made."""
        while self._made:
            self.store.remove_bucket(self._made.pop())


def run(
    suites: Iterable[Suite],
    bench: Bench,
    clients: Sequence[Callable[[Access], Client]] = (),
    *,
    only: Sequence[str] = (),
    tell: Callable[[Verdict], None] = lambda verdict: None,
    report: Report | None = None,
) -> Report:
    """Runs suites: those that judge clients once with each client, the others once.

    Args:
        suites: In this order.
        bench: The endpoint.
        clients: Made anew for each suite; they get the proxy's access.
        only: Checks whose ``suite/check`` contains one of these; empty: all.
        tell: Hears of each verdict as it is there.
        report: Gets each verdict as it is there, too: for whoever may be interrupted. None: a new one.
    """
    report = report or Report(bench.access.endpoint, bench.seed, bench.thorough)
    under_test = bench.access.at(bench.proxy.endpoint)
    with ExitStack() as stack:
        stack.enter_context(environment_set(under_test.environment()))
        for suite in suites:
            report.suites.append(suite)
            chosen = [check for check in suite.checks(bench) if _chosen(f"{suite.name}/{check.name}", only)]
            if not chosen:
                continue
            with suite.open(bench) as resource:
                for make in clients if suite.judges == "client" else (None,):
                    client = _made(make, under_test) if make else None
                    if client:
                        report.clients[client.name] = client.version
                    for check in chosen:
                        verdict = _try(suite, check, bench, client, resource)
                        report.verdicts.append(verdict)
                        tell(verdict)
    return report


def _made(make: Callable[[Access], Client], access: Access) -> Client:
    """Raises ValueError, for it is no check that failed, where the client cannot be made."""
    try:
        return make(access)
    except (Exception, NotRun, SystemExit) as error:
        name = getattr(make, "__name__", repr(make))
        raise ValueError(f"the client {name} cannot be made: {type(error).__name__}: {error}") from error


def _chosen(name: str, only: Sequence[str]) -> bool:
    return not only or any(pattern in name for pattern in only)


def _try(suite: Suite, check: Check, bench: Bench, client: Client | None, resource: Any) -> Verdict:
    verdict = Verdict(suite.name, check.name, check.claim, client.name if client else "")
    trial = Trial(bench, verdict, client, resource)
    began = time.monotonic()
    bench.proxy.forget()
    try:
        check.run(trial)
    except NotRun as missing:
        verdict.reason = str(missing)
    except Failed as failed:
        verdict.problems.append(str(failed))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit, too, and torch's CheckpointException, which is no Exception
        verdict.problems.append(f"{type(error).__name__}: {error}")
    finally:
        bench.clean_up()
    verdict.seconds = time.monotonic() - began
    verdict.outcome = "failed" if verdict.problems else "not run" if verdict.reason else "passed"
    if len(verdict.problems) > MOST_PROBLEMS:
        left_out = len(verdict.problems) - MOST_PROBLEMS
        verdict.problems[MOST_PROBLEMS:] = [f"and {left_out} further problems"]
    return verdict
