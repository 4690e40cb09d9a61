"""Fault injection in an emulator namespace."""

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

#: A scenario or a list of rules (format: docs/reference/faults.md), the path of a JSON file, or the name of a built-in scenario.
FaultDocument = Mapping[str, Any] | Sequence[Mapping[str, Any]] | os.PathLike[str] | str


@dataclasses.dataclass(frozen=True)
class RuleAccount:
    """The counters of one rule."""

    id: str
    #: Requests whose request line and headers matched the rule's condition.
    matched: int
    #: Requests for which all actions of the rule were carried out.
    fired: int
    #: Requests that the rule was chosen for, and whose actions are not all carried out yet.
    under_way: int
    #: Whether the rule has fired as often as the scenario requires.
    complete: bool
    #: The x-amz-request-id of the latest requests that it fired for, at most 32.
    request_ids: tuple[str, ...]
    #: How many more requests it may be chosen for; None: no ``times`` for the whole scenario.
    remaining: int | None = None


@dataclasses.dataclass(frozen=True)
class FaultAccount:
    """The counters of a scenario or a retry test."""

    name: str
    seed: int
    requests: int
    fired: int
    #: Whether every rule that must fire has fired.
    complete: bool
    rules: tuple[RuleAccount, ...]
    #: Scenarios that were replaced or cleared before they were complete: the first 16.
    replaced: tuple[FaultAccount, ...] = ()
    #: The scenario as it was given; None for retry tests and in `replaced`.
    scenario: Any = None

    def rule(self, rule_id: str) -> RuleAccount:
        """Returns the rule whose id is `rule_id`.

        Raises:
            KeyError: There is no such rule.
        """
        for rule in self.rules:
            if rule.id == rule_id:
                return rule
        raise KeyError(f"no rule {rule_id!r}; the rules are {', '.join(rule.id for rule in self.rules)}")

    def check(self) -> None:
        """Checks that this scenario is complete, and that no earlier one was replaced or cleared before it was complete.

        Raises:
            AssertionError: Planned faults did not happen; the message names their rules.
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
    """Returns `faults` as JSON text."""
    if isinstance(faults, str):
        return json.dumps({"scenario": faults})
    if isinstance(faults, os.PathLike):
        return Path(faults).read_text(encoding="utf-8")
    return json_text(faults, "faults")


class Faults:
    """Controls fault injection in a namespace: one scenario at a time, plus any number of retry tests.

    docs/reference/faults.md describes scenarios. Comes from ``Emulator.faults()`` and ``Namespace.faults``.

    Every method raises NotFoundError if the namespace does not exist.

    Thread safety: safe from any thread.
    """

    def __init__(self, core: _core.Emulator, namespace: str, planned: Callable[[str], None] | None = None) -> None:
        self.namespace = namespace
        self._core = core
        self._planned = planned

    def _record_planned(self) -> None:
        if self._planned is not None:
            self._planned(self.namespace)

    def set(self, faults: FaultDocument) -> None:
        """Starts a scenario, with counters at zero. It replaces the running scenario.

        The checks still report faults of the replaced scenario that have not happened, unless ``clear(forget=True)`` was called
        in between.

        Args:
            faults: A scenario or a list of rules, the path (``pathlib.Path``) of a JSON file, or the name of a built-in scenario.

        Raises:
            ValueError: `faults` is invalid; the message names the member, such as "rules[2].when.part". The running scenario
                continues.
        """
        self._core.set_faults(self.namespace, _document_text(faults))
        self._record_planned()

    def clear(self, *, forget: bool = False) -> None:
        """Stops the running scenario.

        Args:
            forget: Exclude the faults that have not happened, of this scenario and of earlier ones, from later checks.
        """
        self._core.clear_faults(self.namespace, forget)

    def restore(self) -> None:
        """Discards all planned faults of the namespace and restarts its initial scenario, that of ``Emulator(faults=...)``."""
        self._core.restore_faults(self.namespace)

    def account(self) -> FaultAccount:
        """Returns the counters of the running scenario.

        Raises:
            NotFoundError: No scenario is running.
        """
        return _parse_account(self._core.fault_account(self.namespace))

    def check(self) -> None:
        """Checks that all planned faults have happened. They have not if the client stopped early or sent no such request.

        Raises:
            AssertionError: Planned faults did not happen; the message names their rules.
            NotFoundError: No scenario is running.
        """
        self.account().check()

    def check_all(self) -> None:
        """As `check`, for the running scenario if any, for scenarios replaced or cleared before, and for existing retry tests.

        Raises:
            AssertionError: Planned faults did not happen; the message names their rules.
        """
        if missing := self._core.missing_faults(self.namespace):
            raise AssertionError(missing)
        for test_id in self.retry_tests():
            _parse_account(self._core.retry_test_account(self.namespace, test_id)).check()

    def retry_test(self, operations: Mapping[str, Sequence[str | Mapping[str, Any]]]) -> RetryTest:
        """Creates a retry test and returns it. Its faults apply to requests with its header, in order per operation, once each.

        Args:
            operations: For example ``{"GetObject": ["slow_down", {"reset": {}, "at": "body_out@1024"}]}``.

        Raises:
            ValueError: `operations` is invalid; the message names the member.
        """
        test_id = self._core.create_retry_test(self.namespace, json_text(operations, "operations"))
        self._record_planned()
        return RetryTest(self._core, self.namespace, test_id)

    def retry_tests(self) -> list[str]:
        """Returns the ids of the existing retry tests."""
        return self._core.retry_tests(self.namespace)


class RetryTest:
    """Queues of faults, one per operation, for requests that carry its header. A context manager that checks and deletes itself.

    Comes from :meth:`Faults.retry_test`.
    """

    def __init__(self, core: _core.Emulator, namespace: str, test_id: str) -> None:
        self.id = test_id
        self._core = core
        self._namespace = namespace

    @property
    def headers(self) -> dict[str, str]:
        """The header that makes the faults apply to a request."""
        return {"x-penstock-retry-test": self.id}

    def account(self) -> FaultAccount:
        """Returns its counters. The rule of the first fault of GetObject has the id "GetObject-1"."""
        return _parse_account(self._core.retry_test_account(self._namespace, self.id))

    def check(self) -> None:
        """Checks that every fault has happened.

        Raises:
            AssertionError: Faults did not happen; the message names their rules.
        """
        self.account().check()

    def delete(self) -> None:
        """Deletes the test. The emulator refuses later requests that carry its header."""
        self._core.delete_retry_test(self._namespace, self.id)

    def __enter__(self) -> RetryTest:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None:
                self.check()
        finally:
            self.delete()
