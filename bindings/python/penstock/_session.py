"""Session: the part of a client that reads, writes and listings need."""

from __future__ import annotations

import contextlib
import importlib
import math
import os
import sys
import threading
from types import NoneType
from typing import Any

from . import _core
from ._config import S3ClientConfig, check_text, check_type, size_of, with_numbers
from ._logs import Logger
from ._user_agent import UserAgent

GBIT_PER_CONNECTION = 0.4  # throughput of one S3 connection, about 50 MB/s
MAX_PARALLEL_PARTS = 64

log = Logger(__name__)


def _with_callbacks(config: S3ClientConfig, settings: dict[str, Any]) -> _core.Client:
    """Returns a core client whose events reach the callbacks of `config`."""
    from . import _events  # few programs have callbacks

    number = _events.register(config.observer, config.retry_policy)
    settings["observer_number"] = number if config.observer is not None else 0
    settings["policy_number"] = number if config.retry_policy is not None else 0
    try:
        client = _core.Client(**settings)
    except BaseException:
        _events.forget(number)
        raise
    _events.forget_with(client, number)
    return client


def _wait_for_imports() -> None:
    """Returns when no other thread imports a module of this package that it was importing when the function was called.

    A forked child inherits the lock of such a module without its thread. The first call that needs the module would never return.
    """
    locks: dict[str, object] = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", {})  # CPython's, by module name
    for name in list(locks):
        if name.startswith("penstock."):
            with contextlib.suppress(Exception):  # it belongs to the thread that imports the module
                importlib.import_module(name)  # waits for that thread


os.register_at_fork(before=_wait_for_imports)


class Session:
    """Base class of :class:`~penstock.S3Client`: the core client, created on first use, and the part settings.

    Modules that ``_client`` imports take a session to send requests. Picklable; the copy creates its own core client.

    Thread safety: safe from any thread.
    """

    def __init__(self, region: str, endpoint: str | None, user_agent_prefix: str, s3client_config: S3ClientConfig) -> None:
        self._region = region
        self._endpoint = endpoint
        self._user_agent_prefix = user_agent_prefix
        self._s3client_config = s3client_config
        self._core_client: _core.Client | None = None
        self._locks: dict[int, threading.Lock] = {}  # by process: a forked child must not wait for a thread of its parent
        _core.check_memory_limit_variable()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_core_client", "_locks")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._core_client = None
        self._locks = {}

    @property
    def region(self) -> str:
        return self._region

    @property
    def endpoint(self) -> str | None:
        return self._endpoint

    @property
    def s3client_config(self) -> S3ClientConfig:
        return self._s3client_config

    @property
    def user_agent_prefix(self) -> str:
        return self._user_agent_prefix

    @property
    def core(self) -> _core.Client:
        """The core client. Its methods are not part of the public interface."""
        client = self._core_client
        if client is None:
            with self._locks.setdefault(os.getpid(), threading.Lock()):
                if self._core_client is None:
                    self._core_client = self._client_builder()
                client = self._core_client
        return client

    _client = core  # the reference connector's name

    @property
    def part_size(self) -> int | None:
        """Bytes per ranged GET; None: chosen per transfer."""
        return size_of("part_size", self._s3client_config.part_size)

    @property
    def parallel_parts(self) -> int | None:
        """Concurrent requests for one object; None: chosen per transfer."""
        target = self._s3client_config.throughput_target_gbps
        return None if target is None else max(1, min(math.ceil(target / GBIT_PER_CONNECTION), MAX_PARALLEL_PARTS))

    def _call(self, operation: str, **arguments: Any) -> Any:
        """Runs an operation of the core's table (bindings/core/requests/operations.cc)."""
        log.debug("%s s3://%s/%s", operation, arguments.get("bucket", ""), arguments.get("key", ""))
        return self.core.call(operation, with_numbers(arguments))

    def _client_builder(self) -> _core.Client:
        config = self._s3client_config
        config.validate()
        check_type("region", self._region, (str,))
        check_type("endpoint", self._endpoint, (str, NoneType))
        check_text("region", self._region)
        check_text("endpoint", self._endpoint)
        settings: dict[str, Any] = {
            "region": self._region,
            "endpoint": self._endpoint or "",
            "force_path_style": config.force_path_style,
            "unsigned": config.unsigned,
            "profile": config.profile or "",
            "max_attempts": config.max_attempts,
            "requester_pays": config.requester_pays,
            "user_agent": UserAgent.on_the_wire(self._user_agent_prefix),
            "access_key_id": config.access_key_id or "",
            "secret_access_key": config.secret_access_key or "",
            "session_token": config.session_token or "",
            "numbers": config._numbers,
            "flags": config._flags,
            "texts": config._texts,
            "retry_mode": config.retry_mode or "",
            "attempt_timeout": config.attempt_timeout or 0.0,
            "operation_timeout": config.operation_timeout or 0.0,
            "low_speed_limit": config.low_speed_limit,
            "connect_timeout": config.connect_timeout or 0.0,
            "idle_timeout": config.idle_timeout or 0.0,
            "customer_key": config.sse_customer_key or b"",
        }
        try:
            if config.observer is None and config.retry_policy is None:
                return _core.Client(**settings)
            return _with_callbacks(config, settings)
        except (TypeError, UnicodeError):
            pass  # pybind11's message contains every argument, secrets included: do not chain this exception
        raise TypeError("a client setting has the wrong type; check region, endpoint and s3client_config")
