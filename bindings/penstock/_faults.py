"""Faults of an emulator's namespace, from Python."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from . import _core
from ._json_text import json_text

#: A scenario, or a list of rules, as docs/faults.md has them; the path of a JSON file; or the name of a built-in scenario.
FaultDocument = Mapping[str, Any] | Sequence[Mapping[str, Any]] | os.PathLike[str] | str


@dataclasses.dataclass(frozen=True)
class RuleAccount:
    """What became of one rule so far."""

    id: str
    #: Requests that fulfilled its condition, as far as their heads tell.
    matched: int
    #: Requests that met it to its last deed.
    fired: int
    #: Requests that meet it now.
    under_way: int
    #: It has fired as often as the scenario needs.
    complete: bool
    #: The latest that it fired for, at most 32: x-amz-request-id of their answers.
    request_ids: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class FaultAccount:
    """What a scenario, or a retry test, did so far."""

    name: str
    seed: int
    requests: int
    fired: int
    #: Every rule that must fire has fired.
    complete: bool
    rules: tuple[RuleAccount, ...]
    #: Of scenarios that were replaced or cleared before they were complete: the first 16.
    replaced: tuple[FaultAccount, ...] = ()

    def rule(self, rule_id: str) -> RuleAccount:
        """The rule whose id is `rule_id`.

        Raises:
            KeyError: there is none.
        """
        for rule in self.rules:
            if rule.id == rule_id:
                return rule
        raise KeyError(f"no rule {rule_id!r}; there are {', '.join(rule.id for rule in self.rules)}")

    def check(self) -> None:
        """Does nothing when the account is complete, and no scenario before it was replaced or cleared incomplete.

        Raises:
            AssertionError: names the rules that were planned and did not happen.
        """
        problems = [
            f"faults that were planned had not happened when their scenario was replaced or cleared {account._missing()}"
            for account in self.replaced
        ]
        if not self.complete:
            problems.append(f"faults that were planned did not happen {self._missing()}")
        if problems:
            raise AssertionError("\n".join(problems))

    def _missing(self) -> str:
        missing = [
            f"{rule.id!r} fired for {rule.fired} of the {rule.matched} requests that matched"
            + (f", {rule.under_way} under way" if rule.under_way else "")
            for rule in self.rules
            if not rule.complete
        ]
        return f"(seed {self.seed}, {self.requests} requests seen): {'; '.join(missing)}"


def _parse_account(text: str) -> FaultAccount:
    return _account_of(json.loads(text))


def _account_of(document: dict[str, Any]) -> FaultAccount:
    rules = tuple(RuleAccount(**(rule | {"request_ids": tuple(rule["request_ids"])})) for rule in document.pop("rules"))
    replaced = tuple(_account_of(account) for account in document.pop("replaced", ()))
    return FaultAccount(**document, rules=rules, replaced=replaced)


def _document_text(faults: FaultDocument) -> str:
    """JSON of what the caller gave."""
    if isinstance(faults, str):
        return json.dumps({"scenario": faults})
    if isinstance(faults, os.PathLike):
        return Path(faults).read_text(encoding="utf-8")
    return json_text(faults, "faults")


class Faults:
    """The faults of a namespace: one scenario at a time, and retry tests beside it. docs/faults.md has the documents.

    Comes from ``Emulator.faults()`` and ``Namespace.faults``.

    Every method raises S3NotFoundError when there is no such namespace.

    Thread safety: safe from any thread.
    """

    def __init__(self, core: _core.Emulator, namespace: str, planned: Callable[[str], None] | None = None) -> None:
        self.namespace = namespace
        self._core = core
        self._planned = planned

    def _note_plan(self) -> None:
        if self._planned is not None:
            self._planned(self.namespace)

    def set(self, faults: FaultDocument) -> None:
        """Runs a scenario from now on, in place of the one that ran, with an account of its own.

        What the one before it had planned and has not happened is still missed by the checks, unless ``clear(forget=True)``
        was called in between.

        Args:
            faults: A scenario or a list of rules; a path (``pathlib.Path``) of a JSON file; or a built-in scenario's name.

        Raises:
            ValueError: names the place that is wrong, such as "rules[2].when.part"; what ran goes on.
        """
        self._core.set_faults(self.namespace, _document_text(faults))
        self._note_plan()

    def clear(self, *, forget: bool = False) -> None:
        """No scenario from now on.

        Args:
            forget: No check asks any more for what has not happened of it, and of scenarios before it.
        """
        self._core.clear_faults(self.namespace, forget)

    def restore(self) -> None:
        """Forgets what was planned, and begins anew with what every namespace begins with (``Emulator(faults=...)``)."""
        self._core.restore_faults(self.namespace)

    def account(self) -> FaultAccount:
        """What the scenario did so far.

        Raises:
            S3NotFoundError: none runs.
        """
        return _parse_account(self._core.fault_account(self.namespace))

    def check(self) -> None:
        """Fails a test whose planned faults did not happen: its client stopped early, or never asked.

        Raises:
            AssertionError: names the rules.
            S3NotFoundError: no scenario runs.
        """
        self.account().check()

    def check_all(self) -> None:
        """As `check`, for the scenario, if one runs, those replaced or cleared before, and retry tests that were not deleted.

        Raises:
            AssertionError: names the rules.
        """
        if missing := self._core.missing_faults(self.namespace):
            raise AssertionError(missing)
        for test_id in self.retry_tests():
            _parse_account(self._core.retry_test_account(self.namespace, test_id)).check()

    def retry_test(self, operations: Mapping[str, Sequence[str | Mapping[str, Any]]]) -> RetryTest:
        """Makes a test: faults for the requests that bring its header, each operation's one after the other, each once.

        Args:
            operations: Such as ``{"GetObject": ["slow_down", {"reset": {}, "at": "body_out@1024"}]}``.

        Raises:
            ValueError: names the place that is wrong.
        """
        test_id = self._core.create_retry_test(self.namespace, json_text(operations, "operations"))
        self._note_plan()
        return RetryTest(self._core, self.namespace, test_id)

    def retry_tests(self) -> list[str]:
        """Ids of the retry tests that there are."""
        return self._core.retry_tests(self.namespace)


class RetryTest:
    """Queues of faults for the requests that name it. A context manager: checks and deletes itself at the end.

    Comes from :meth:`Faults.retry_test`.
    """

    def __init__(self, core: _core.Emulator, namespace: str, test_id: str) -> None:
        self.id = test_id
        self._core = core
        self._namespace = namespace

    @property
    def headers(self) -> dict[str, str]:
        """What a request must bring to meet it."""
        return {"x-penstock-retry-test": self.id}

    def account(self) -> FaultAccount:
        """What it did so far. The rule of GetObject's first fault is "GetObject-1"."""
        return _parse_account(self._core.retry_test_account(self._namespace, self.id))

    def check(self) -> None:
        """Raises AssertionError unless every fault has happened."""
        self.account().check()

    def delete(self) -> None:
        """Requests that still name it are refused."""
        self._core.delete_retry_test(self._namespace, self.id)

    def __enter__(self) -> RetryTest:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None:
                self.check()
        finally:
            self.delete()
