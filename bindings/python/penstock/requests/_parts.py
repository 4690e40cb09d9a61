"""Objects made of parts inside S3: copies above the size limit of one request, and the attributes that copies keep."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from .._exceptions import S3Exception, S3NotFoundError
from .._logs import Logger
from .._progress import LONGEST_WAIT_S
from .._writer import abort_at_exit, ended

if TYPE_CHECKING:
    from ._options import Buffer
    from ._rare_results import CompletedPart
    from ._requests import Requests
    from ._results import ObjectMetadata, PutResult

log = Logger(__name__)

COPY_PART = 256 * 1024**2
MAX_COPY_BYTES = 5 * 1024**3  # S3's limit for one CopyObject request, and for one part
MAX_PARTS = 10_000  # S3's limit
PARALLEL = 8  # requests at a time
ABORT_TIMEOUT_S = 30.0  # with all attempts

Attributes: TypeAlias = dict[str, Any]  # keyword arguments of penstock.requests.ObjectOptions
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

# The first ones are those that a copy with the directive REPLACE takes from its request instead of from the source.
HEADERS = (
    "content_type", "cache_control", "content_encoding", "content_disposition", "content_language", "website_redirect_location",
)  # fmt: skip
ENCRYPTION = ("server_side_encryption", "sse_kms_key_id", "bucket_key_enabled")


def in_parallel(
    function: Callable[[ItemT], ResultT],
    items: Iterable[ItemT],
    threads: int = PARALLEL,
    on_result: Callable[[ResultT], None] = lambda _: None,
) -> list[ResultT]:
    """Calls a function for each item, on daemon threads, which the end of the process does not wait for.

    After an exception no further call starts. The calls in progress have ended when it propagates.

    Args:
        on_result: Called with each result, in order, on the calling thread.

    Returns:
        The results in order.
    """
    numbered = enumerate(items)
    changed = threading.Condition()
    results: dict[int, ResultT] = {}
    failures: list[BaseException] = []
    working = threads

    def serve() -> None:
        nonlocal working
        try:
            while True:
                with changed:
                    number, item = (-1, None) if failures else next(numbered, (-1, None))
                if number < 0:
                    break
                result = function(cast(ItemT, item))
                with changed:
                    results[number] = result
                    changed.notify()
        except BaseException as error:
            failures.append(error)
        with changed:
            working -= 1
            changed.notify()

    workers = [threading.Thread(target=serve, daemon=True) for _ in range(threads)]
    ordered: list[ResultT] = []
    try:
        for worker in workers:
            worker.start()
        while True:
            with changed:
                while len(ordered) not in results and not failures and working:
                    changed.wait(LONGEST_WAIT_S)
                if failures:
                    raise failures[0]
                if len(ordered) not in results:
                    return ordered
                ordered.append(results.pop(len(ordered)))
            on_result(ordered[-1])
    except BaseException as error:
        failures.append(error)
        raise
    finally:
        for worker in workers:
            if worker.ident is not None:
                worker.join()


def shares(size: int, limit: int) -> list[tuple[int, int]]:
    """Splits [0, size) into the minimum number of pieces of at most `limit` bytes and of about equal size."""
    count = max(1, -(-size // limit))
    return [(size * number // count, size * (number + 1) // count) for number in range(count)]


class JoinedObject:
    """A multipart upload of copied and written parts. Nothing is visible before :meth:`publish`.

    Args:
        client: Sends the requests.
        bucket: Bucket of the new object.
        key: Key of the new object.
        attributes: Attributes of the new object.
    """

    def __init__(self, client: Requests, bucket: str, key: str, attributes: Attributes) -> None:
        self._client, self._bucket, self._key = client, bucket, key
        self._customer_key: bytes | None = attributes.get("sse_customer_key")
        self._parts: list[CompletedPart] = []
        self._size = 0
        self._process = os.getpid()
        self._upload_id = client.create_multipart_upload(bucket, key, **attributes)
        abort_at_exit(self)

    def copy(
        self,
        bucket: str,
        key: str,
        source: ObjectMetadata,
        *,
        part_bytes: int | None = None,
        version_id: str | None = None,
        customer_key: bytes | None = None,
        progress: Callable[[int, int | None], None] = lambda *_: None,
    ) -> None:
        """Copies the version of an object that `source` describes, in parallel parts.

        Args:
            part_bytes: About the most bytes of one part; None: 256 MiB.
            version_id: Its version; None: it must still be the current one.
            customer_key: SSE-C key of the source.
            progress: Called with the bytes copied and the size.
        """
        ranges = shares(source.size, max(part_bytes or COPY_PART, -(-source.size // (MAX_PARTS // 2))))
        first, copied = len(self._parts) + 1, 0

        def copy_part(number: int) -> CompletedPart:
            return self._client.upload_part_copy(
                self._bucket, self._key, self._upload_id, first + number, bucket, key, src_range=ranges[number],
                src_if_match=source.etag, src_version_id=version_id, src_sse_customer_key=customer_key,
                sse_customer_key=self._customer_key,
            )  # fmt: skip

        def count(part: CompletedPart) -> None:
            nonlocal copied
            copied += part.size or 0
            progress(copied, source.size)

        self._parts += in_parallel(copy_part, range(len(ranges)), min(PARALLEL, len(ranges)), count)
        self._size += source.size

    def write(self, data: Buffer) -> None:
        number = len(self._parts) + 1
        self._parts.append(
            self._client.upload_part(self._bucket, self._key, self._upload_id, number, data, sse_customer_key=self._customer_key)
        )
        self._size += len(data)

    @property
    def parts(self) -> int:
        return len(self._parts)

    def publish(self, if_none_match: bool = False) -> PutResult:
        """Publishes the object. With `if_none_match`, only if the key has no object."""
        result = self._complete(if_none_match)
        ended(self)
        return result

    def _complete(self, if_none_match: bool) -> PutResult:
        try:
            return self._client.complete_multipart_upload(
                self._bucket, self._key, self._upload_id, self._parts, object_size=self._size, if_none_match=if_none_match,
                sse_customer_key=self._customer_key,
            )  # fmt: skip
        except S3NotFoundError as error:
            # An earlier attempt may have succeeded without a response.
            if error.code != "NoSuchUpload":
                raise
            from ._results import PutResult

            head = self._client.head(self._bucket, self._key, sse_customer_key=self._customer_key)
            if head.size != self._size or not head.etag.rstrip('"').endswith(f"-{len(self._parts)}"):
                raise
            return PutResult(head.etag, head.version_id, head.checksums)

    def abort(self) -> None:
        """Discards the upload. Does nothing in a forked child, because the parent continues the upload."""
        if os.getpid() != self._process:
            return
        ended(self)
        with suppress(S3NotFoundError):
            self._client.abort_multipart_upload(self._bucket, self._key, self._upload_id, timeout=ABORT_TIMEOUT_S)

    @contextmanager
    def abort_on_error(self) -> Iterator[None]:
        """A context manager that aborts the upload if the block raises. An error of the abort is logged, without a traceback."""
        try:
            yield
        except BaseException:
            try:
                self.abort()
            except S3Exception as error:
                log.warning("cannot abort a multipart upload of s3://%s/%s: %s", self._bucket, self._key, error)
            raise


def copy_in_parts(
    client: Requests,
    source: tuple[str, str],
    target: tuple[str, str],
    head: ObjectMetadata,
    attributes: Attributes,
    *,
    part_bytes: int | None = None,
    version_id: str | None = None,
    customer_key: bytes | None = None,
    new_only: bool = False,
    progress: Callable[[int, int | None], None] = lambda *_: None,
) -> PutResult:
    """Copies one version of an object of any size inside S3, in parallel. A failed copy leaves no parts.

    Args:
        client: Sends the requests.
        source: Bucket and key.
        target: Bucket and key.
        head: The metadata of the version to copy.
        attributes: Attributes of the copy.
        part_bytes: About the most bytes of one part; None: 256 MiB.
        version_id: Version to copy; None: the current one.
        customer_key: SSE-C key of the source.
        new_only: Raise S3PreconditionFailedError if the target exists.
        progress: Called with the bytes copied and the size.
    """
    joined = JoinedObject(client, *target, attributes)
    with joined.abort_on_error():
        joined.copy(*source, head, part_bytes=part_bytes, version_id=version_id, customer_key=customer_key, progress=progress)
        return joined.publish(new_only)


def described_attributes(head: ObjectMetadata) -> Attributes:
    """Returns the headers and the metadata of an object, which S3's own copy keeps."""
    from email.utils import parsedate_to_datetime

    found: Attributes = {name: getattr(head, name) for name in HEADERS}
    found["metadata"] = dict(head.metadata)
    with suppress(ValueError):  # S3 stores any text as Expires
        found["expires"] = parsedate_to_datetime(head.expires) if head.expires else None
    return {name: value for name, value in found.items() if value}


def tags_of(client: Requests, bucket: str, key: str, head: ObjectMetadata) -> Attributes:
    """Returns the tags of the version that `head` describes, as an attribute. Sends a request only if there are any."""
    return {"tagging": client.get_object_tagging(bucket, key, version_id=head.version_id)} if head.tag_count else {}


def copied_attributes(client: Requests, bucket: str, key: str, head: ObjectMetadata) -> Attributes:
    """Returns the attributes of an object that is written again, with its tags. S3 keeps no ACL and no retention of a copy.

    Args:
        client: Requests the tags, if there are any.
        bucket: Bucket of the object.
        key: Key of the object.
        head: Its metadata, of the version to copy.
    """
    found = described_attributes(head) | tags_of(client, bucket, key, head) | {"storage_class": head.storage_class}
    if head.encryption in ("AES256", "aws:kms", "aws:kms:dsse"):
        found["server_side_encryption"] = head.encryption
    if head.sse_kms_key_id:
        found["sse_kms_key_id"] = head.sse_kms_key_id
    if head.bucket_key_enabled:
        found["bucket_key_enabled"] = True
    return found


def merged(below: Attributes, above: Attributes) -> Attributes:
    """Returns the attributes of both; `above` has priority, and its encryption replaces all of that of `below`."""
    if "server_side_encryption" in above:
        below = {name: value for name, value in below.items() if name not in ENCRYPTION}
    return {**below, **above}
