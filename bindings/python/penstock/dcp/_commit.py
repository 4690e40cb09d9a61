"""The commit of a save: publishes `.metadata` by one conditional request, then removes the objects of the replaced checkpoint.

Before that request, no object of the previous checkpoint has been changed. After it, the new checkpoint is complete. Of two
concurrent saves, S3 accepts one request and rejects the other; the losing save then deletes the objects that it wrote, which are
never objects of the winner.
"""

from __future__ import annotations

import logging
import pickle
import random
import time
from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Any, NamedTuple

from torch.distributed.checkpoint.metadata import Metadata

from .._client import S3Client
from .._exceptions import S3ConflictError, S3Exception, S3NotFoundError, S3PreconditionFailedError
from ._checked_metadata import unpickled_metadata
from ._file_system import bucket_and_folder, bucket_and_key, etag_of, knows_no_conditions

log = logging.getLogger(__name__)

DELETE_AT_ONCE = 1000  # keys of one DeleteObjects request
CONFLICT_WAITS_S = (0.1, 0.2, 0.4, 0.8, 1.6)  # the longest waits between attempts while S3 answers 409
# Attributes of the metadata with object names that storage_data lacks: objects without items, and replaced objects.
_EMPTY, _REPLACED = "penstock_empty", "penstock_replaced"


class MetadataVersion(NamedTuple):
    """One version of a checkpoint's `.metadata` object."""

    etag: str


def current_version(client: S3Client, path: str) -> MetadataVersion | None:
    """Returns the version of the object at `path`, or None if there is none. Sends one HeadObject request.

    Raises:
        S3Exception: The request failed.
    """
    etag = etag_of(client, path)
    return None if etag is None else MetadataVersion(etag)


def read_metadata(client: S3Client, path: str, version: MetadataVersion) -> Metadata:
    """Reads and unpickles one version of the metadata. Unpickling can run code: use it for trusted checkpoints only.

    Raises:
        S3PreconditionFailedError: The object has been replaced since.
    """
    bucket, key = bucket_and_key(path)
    data, _, _ = client.core.read(bucket, key, etag=version.etag)
    found = unpickled_metadata(data, path)
    if not isinstance(found, Metadata):
        raise pickle.UnpicklingError(f"{path} contains a {type(found).__name__}, expected Metadata")
    return found


def object_names(metadata: Metadata) -> set[str]:
    """Returns the names, relative to the checkpoint's path, of all its objects except `.metadata`."""
    stored = metadata.storage_data.values() if isinstance(metadata.storage_data, dict) else ()
    names = {str(info.relative_path) for info in stored if hasattr(info, "relative_path")}
    return names | set(getattr(metadata, _EMPTY, ()))


def publish(client: S3Client, path: str, metadata: Metadata, replaced: MetadataVersion | None) -> None:
    """Writes `metadata` by one conditional PutObject: over the version `replaced`, or only if `path` does not exist.

    A service without conditional writes gets an unconditional request. If the condition fails but the object already contains
    `metadata`, S3 applied the request twice, and the save has succeeded.

    Raises:
        S3PreconditionFailedError: Another save has published at this path; its checkpoint stays.
        S3Exception: The request failed. Without a response, it is unknown whether the checkpoint was published.
    """
    bucket, key = bucket_and_key(path)
    data = pickle.dumps(metadata)
    condition: dict[str, Any] = {"if_match": replaced.etag} if replaced else {"if_none_match": True}
    try:
        _put(client, bucket, key, data, condition)
    except S3PreconditionFailedError as error:
        if not _is_published(client, path, data):
            raise conflict_error(client, error, path) from error
        log.warning("%s: the condition failed, but this save is published: S3 applied the request twice (%s)", path, error)
    except S3Exception as error:
        if replaced and isinstance(error, S3NotFoundError) and error.code == "NoSuchKey":
            raise conflict_error(client, error, path) from error
        if not knows_no_conditions(error):
            raise
        log.warning("%s: the service does not support conditional writes (%s); published without a condition", path, error)
        client.core.put_object(bucket, key, data)


def _put(client: S3Client, bucket: str, key: str, data: bytes, condition: dict[str, Any]) -> None:
    """Sends a conditional PutObject. Repeats it while another request for this key is in progress, as S3's documentation says.

    That other request may be an earlier attempt of this one, whose response was lost.

    Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html
    """
    for wait in CONFLICT_WAITS_S:
        try:
            client.core.put_object(bucket, key, data, **condition)
            return
        except S3ConflictError as error:
            if error.code != "ConditionalRequestConflict":
                raise
            log.info("s3://%s/%s: another request for this key is in progress; repeating this one (%s)", bucket, key, error)
        time.sleep(random.uniform(wait / 2, wait))
    client.core.put_object(bucket, key, data, **condition)


def _is_published(client: S3Client, path: str, data: bytes) -> bool:
    """Whether the object at `path` contains `data`. A request that S3 applies twice fails its own condition."""
    try:
        found, _, _ = client.core.read(*bucket_and_key(path))
    except S3Exception:
        return False
    return bool(found == data)


def conflict_error(client: S3Client, error: S3Exception, path: str) -> S3PreconditionFailedError:
    """Returns the error of a save that lost against a concurrent one. It describes the object that is now at `path`."""
    try:
        now = client.head_object(*bucket_and_key(path))
        there = f"its checkpoint is kept ({path} of {_time_text(now.last_modified)}, ETag {now.etag})"
    except S3NotFoundError:
        there = "there is no checkpoint now"
    except S3Exception as unknown:
        there = f"its checkpoint is kept (its version is unknown: {unknown})"
    result = S3PreconditionFailedError(
        f"another save has written or removed {path} since this one began; {there}, and this save was not published; "
        f"save to another path ({error})"
    )
    result.__dict__.update(error.__dict__)
    return result


def _time_text(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")


def remove_unpublished(client: S3Client, root: str, path: str, names: set[str]) -> None:
    """Deletes the objects of a save that was not published, except those that the checkpoint at `path` refers to. Logs failures.

    Saves that take the save lock never share object names. Another program, which does not take it, may have overwritten some.
    """
    try:
        now = current_version(client, path)
        names = names - object_names(read_metadata(client, path, now)) if now else names
    except Exception as error:
        log.warning("cannot read %s (%s); %d objects of the save that was not published are kept", path, error, len(names))
        return
    remove(client, root, names)


def replace(
    client: S3Client, root: str, path: str, metadata: Metadata, empty: Iterable[str], replaced: MetadataVersion | None
) -> None:
    """Publishes `metadata` at `path`, then deletes the objects below `root` that only the replaced checkpoint used.

    Args:
        empty: Names of this checkpoint's objects without items.

    Raises:
        S3Exception: As :func:`publish`. Objects that cannot be deleted are logged; the next save tries again.
    """
    setattr(metadata, _EMPTY, sorted(empty))
    stale: set[str] = set()
    if replaced:
        try:
            before = read_metadata(client, path, replaced)
        except S3PreconditionFailedError as error:
            raise conflict_error(client, error, path) from error
        except Exception as error:  # another program may have written it, or it is damaged
            log.warning("cannot read %s (%s); the objects that it refers to are kept", path, error)
        else:
            stale = object_names(before) | set(getattr(before, _REPLACED, ()))
            setattr(metadata, _REPLACED, sorted(object_names(before) - object_names(metadata)))
    publish(client, path, metadata, replaced)
    remove(client, root, stale - object_names(metadata))


def remove(client: S3Client, root: str, names: Iterable[str]) -> None:
    """Deletes objects below `root`. Logs failures."""
    bucket, prefix = bucket_and_folder(root)
    keys = sorted(prefix + name for name in names if name and not name.startswith("/"))
    for begin in range(0, len(keys), DELETE_AT_ONCE):
        try:
            failures = client.core.delete_objects(bucket, keys[begin : begin + DELETE_AT_ONCE])
        except S3Exception as error:
            log.warning("cannot delete %d replaced objects below %s: %s", len(keys) - begin, root, error)
            return
        for key, code, message in failures:
            log.warning("cannot delete the replaced object s3://%s/%s: %s %s", bucket, key, code, message)
