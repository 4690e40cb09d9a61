"""What the checks of a run share: the endpoint, a recording proxy in front of it, and the buckets they create."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import urlsplit

from ._access import Access
from ._admin import Admin
from ._proxy import RecordingProxy
from ._store import Store

Made = TypeVar("Made")


class Bench:
    """Shared state of a run. A context manager; on exit it deletes the buckets it created.

    Args:
        access: The endpoint under test.
        admin: Its admin API, for Penstock emulators. None: checks that need one are not run.
        seed: Seed for the selection of samples.
        thorough: Run everything instead of a sample.
        second: Credentials of another account, for the wire cases that need one.

    Raises:
        ValueError, OSError: the endpoint is not an HTTP URL, or its certificate cannot be read.
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
            raise ValueError(f"invalid endpoint '{access.endpoint}': expected http://host:port or https://host")
        self.access = access
        self.admin = admin
        self.seed = seed
        self.thorough = thorough
        self.second = second
        self.store = Store(access)
        self.proxy = RecordingProxy(access)
        self._prefix = f"conf-{secrets.token_hex(4)}"
        self._created: list[str] = []
        self._numbers = 0
        self._cached: dict[str, Any] = {}

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.clean_up()
        self.proxy.close()

    def new_bucket(self, suffix: str = "") -> str:
        """Creates an empty bucket whose name ends in `suffix`. :meth:`clean_up` deletes it."""
        name = self.new_name(suffix)
        self.store.create_bucket(name)
        self._created.append(name)
        return name

    def new_name(self, suffix: str = "") -> str:
        """An unused bucket name."""
        self._numbers += 1
        return f"{self._prefix}-{self._numbers}{suffix}"

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        """The result of `make`, cached by `name` for the whole run. For results that several checks use."""
        if name not in self._cached:
            self._cached[name] = make()
        cached: Made = self._cached[name]
        return cached

    def clean_up(self) -> None:
        """Deletes the buckets that :meth:`new_bucket` created."""
        while self._created:
            self.store.remove_bucket(self._created.pop())
