"""AsyncSession: the part of a client that readers, writers and listings need."""

from __future__ import annotations

import asyncio
import logging
import weakref
from typing import TYPE_CHECKING, Any

from .. import _core
from .._client import S3Client as BlockingClient
from .._config import with_numbers
from ._loop import queue_of, running_loop

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future
    from weakref import WeakKeyDictionary

    from typing_extensions import Self

    from .._config import S3ClientConfig
    from .._metrics import ClientMetrics
    from .._user_agent import UserAgent

log = logging.getLogger(__name__)

_CLOSED = "this client is closed; make a new one"


class AsyncSession:
    """Base class of :class:`penstock.aio.S3Client`: starts calls of the core, and ends them."""

    def __init__(
        self,
        region: str,
        *,
        endpoint: str | None = None,
        user_agent: UserAgent | None = None,
        s3client_config: S3ClientConfig | None = None,
    ) -> None:
        self._blocking = BlockingClient(region, endpoint=endpoint, user_agent=user_agent, s3client_config=s3client_config)
        self._on_loops: WeakKeyDictionary[AbstractEventLoop, _core.AsyncClient] = weakref.WeakKeyDictionary()
        self._closed = False

    def __getstate__(self) -> dict[str, Any]:
        return {"_blocking": self._blocking, "_closed": self._closed}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _on_loops=weakref.WeakKeyDictionary())

    @classmethod
    def _sharing(cls, client: BlockingClient) -> Self:
        """Returns a session that sends its requests with the core of `client`, which counts them."""
        session = cls(client.region)
        session._blocking = client
        return session

    @property
    def part_size(self) -> int | None:
        """Bytes per part; None: 8 MiB."""
        return self._blocking.part_size

    @property
    def parallel_parts(self) -> int | None:
        """Concurrent requests for one object; None: chosen per transfer."""
        return self._blocking.parallel_parts

    @property
    def blocking(self) -> BlockingClient:
        """The client with the same settings whose calls block."""
        return self._blocking

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._closed

    def metrics(self) -> ClientMetrics:
        """As :meth:`penstock.S3Client.metrics`."""
        return self._blocking.metrics()

    # ---- calls

    def _on_loop(self, also_closed: bool = False) -> _core.AsyncClient:
        """Returns the core's client on the running loop."""
        if self._closed and not also_closed:
            raise RuntimeError(_CLOSED)
        loop = running_loop()
        client = self._on_loops.get(loop)
        if client is None:
            client = _core.AsyncClient(self._blocking.core, queue_of(loop))
            self._on_loops[loop] = client
        return client

    def _core_client(self) -> _core.Client:
        if self._closed:
            raise RuntimeError(_CLOSED)
        return self._blocking.core

    def _call(self, operation: str, *, also_closed: bool = False, **arguments: Any) -> Future[Any]:
        """Starts an operation of the core's table. `also_closed`: also after :meth:`close`."""
        log.debug("%s s3://%s/%s", operation, arguments.get("bucket", ""), arguments.get("key", ""))
        return self._on_loop(also_closed).call(operation, with_numbers(arguments))

    def _read(
        self, bucket: str, key: str, start: int, end: int | None, *, size: int | None = None, etag: str | None = None,
        version_id: str = "",
    ) -> Future[Any]:  # fmt: skip
        log.debug("GetObject s3://%s/%s [%d, %s)", bucket, key, start, end)
        return self._on_loop().read(
            bucket, key, start, end, size, etag, self.part_size, self.parallel_parts, version_id
        )  # fmt: skip

    def _read_into(
        self,
        bucket: str,
        key: str,
        buffer: memoryview,
        start: int,
        *,
        size: int | None,
        etag: str | None,
        version_id: str,
        checksums: list[tuple[str, str]] | None,
        prefix_crc: int | None,
    ) -> Future[Any]:
        log.debug("GetObject s3://%s/%s [%d, %d)", bucket, key, start, start + len(buffer))
        return self._on_loop().read_into(
            bucket, key, buffer, start, size, etag, self.part_size, self.parallel_parts, version_id, checksums or (),
            None if checksums is None else prefix_crc,
        )  # fmt: skip

    # ---- end

    async def close(self) -> None:
        """Cancels the calls in flight, which raise S3Exception. Waits for those of this loop. Later calls raise RuntimeError.

        An open writer still aborts its upload, when its block ends or ``abort`` is called.
        """
        self._closed = True
        futures: list[Future[Any]] = []
        for loop, client in list(self._on_loops.items()):
            cancelled = client.cancel_all()
            if loop is asyncio.get_running_loop():
                futures = cancelled
        if futures:
            await asyncio.wait(futures)
