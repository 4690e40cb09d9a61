"""The last step of a save: `.metadata` appears by one conditional request, and then what it replaced goes.

Before that request nothing of an earlier checkpoint has been touched; after it the new one is whole. Which of two writers at a
time wins is S3's to say: the other one's request fails, and it removes what it has written, which is never the winner's.
"""

from __future__ import annotations

import io
import logging
import pickle
from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Any, NamedTuple

from torch.distributed.checkpoint.metadata import Metadata

from .._client import S3Client
from .._exceptions import S3Exception, S3NotFoundError, S3PreconditionFailedError
from ._file_system import bucket_and_folder, bucket_and_key, etag_of, knows_no_conditions

log = logging.getLogger(__name__)

DELETE_AT_ONCE = 1000
# Names that are in no entry of storage_data: of objects without items, and those that this checkpoint replaced.
_EMPTY, _REPLACED = "penstock_empty", "penstock_replaced"


class Present(NamedTuple):
    """A checkpoint's `.metadata` that is there: its version."""

    etag: str


def present(client: S3Client, path: str) -> Present | None:
    """One HEAD: what is at `path`; None: nothing.

    Raises:
        S3Exception: S3 did not say.
    """
    etag = etag_of(client, path)
    return None if etag is None else Present(etag)


def read_metadata(client: S3Client, path: str, version: Present) -> Metadata:
    """That version's content, unpickled as torch's reader does: only for checkpoints that one would load.

    Raises:
        S3PreconditionFailedError: there is another version now.
    """
    bucket, key = bucket_and_key(path)
    data, _ = client.core.read(bucket, key, etag=version.etag)
    found = pickle.load(io.BytesIO(data))
    if not isinstance(found, Metadata):
        raise pickle.UnpicklingError(f"{path} holds a {type(found).__name__}, no Metadata")
    return found


def object_names(metadata: Metadata) -> set[str]:
    """Every object of a checkpoint but its `.metadata`, relative to its path."""
    stored = metadata.storage_data.values() if isinstance(metadata.storage_data, dict) else ()
    names = {str(info.relative_path) for info in stored if hasattr(info, "relative_path")}
    return names | set(getattr(metadata, _EMPTY, ()))


def publish(client: S3Client, path: str, metadata: Metadata, replaced: Present | None) -> None:
    """One PutObject of `metadata`, only where nothing is, or over that version.

    A service that knows no conditional requests gets a plain one. Where the condition fails although `metadata` is there, the
    request was applied twice, and the save has succeeded.

    Raises:
        S3PreconditionFailedError: Somebody else saved at this path meanwhile; his checkpoint stays.
        S3Exception: It was not published, or, where no answer came, cannot be known.
    """
    bucket, key = bucket_and_key(path)
    data = pickle.dumps(metadata)
    condition: dict[str, Any] = {"if_match": replaced.etag} if replaced else {"if_none_match": True}
    try:
        client.core.put_object(bucket, key, data, **condition)
    except S3PreconditionFailedError as error:
        if not _is_published(client, path, data):
            raise overtaken(client, error, path) from error
        log.warning("%s: this save had been published when its condition failed: the request was applied twice (%s)", path, error)
    except S3Exception as error:
        if replaced and isinstance(error, S3NotFoundError) and error.code == "NoSuchKey":
            raise overtaken(client, error, path) from error
        if not knows_no_conditions(error):
            raise
        log.warning("%s: the service knows no conditional writes (%s); published without a condition", path, error)
        client.core.put_object(bucket, key, data)


def _is_published(client: S3Client, path: str, data: bytes) -> bool:
    """Whether `data` is at `path`: a request that is applied twice fails its own condition."""
    try:
        found, _ = client.core.read(*bucket_and_key(path))
    except S3Exception:
        return False
    return bool(found == data)


def overtaken(client: S3Client, error: S3Exception, path: str) -> S3PreconditionFailedError:
    """The error of a save that another one has overtaken: what is there instead."""
    try:
        now = client.head_object(*bucket_and_key(path))
        there = f"its checkpoint stays ({path} of {_time_text(now.last_modified)}, ETag {now.etag})"
    except S3NotFoundError:
        there = "there is no checkpoint now"
    except S3Exception as unknown:
        there = f"its checkpoint stays (S3 does not say which: {unknown})"
    result = S3PreconditionFailedError(
        f"another save has written or removed {path} since this one began; {there}, and nothing of this one; "
        f"save to another path ({error})"
    )
    result.__dict__.update(error.__dict__)
    return result


def _time_text(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")


def remove_lost(client: S3Client, root: str, path: str, names: set[str]) -> None:
    """Deletes the objects of a save that was overtaken, but for those that the checkpoint at `path` names; failures are logged.

    Saves that claim their names share none; one of another program, that does not, may have written over ours.
    """
    try:
        now = present(client, path)
        names = names - object_names(read_metadata(client, path, now)) if now else names
    except Exception as error:
        log.warning("%s cannot be read (%s); %d objects of the save that it has overtaken stay", path, error, len(names))
        return
    remove(client, root, names)


def replace(client: S3Client, root: str, path: str, metadata: Metadata, empty: Iterable[str], replaced: Present | None) -> None:
    """Publishes `metadata` at `path` and then removes the objects below `root` that only the replaced one named.

    Args:
        empty: Names of this checkpoint's objects without items.

    Raises:
        S3Exception: As :func:`publish`. What cannot be removed is logged, and tried again by the save after.
    """
    setattr(metadata, _EMPTY, sorted(empty))
    stale: set[str] = set()
    if replaced:
        try:
            before = read_metadata(client, path, replaced)
        except S3PreconditionFailedError as error:
            raise overtaken(client, error, path) from error
        except Exception as error:  # what was there need not be ours, or whole
            log.warning("%s cannot be read (%s); the objects it names stay", path, error)
        else:
            stale = object_names(before) | set(getattr(before, _REPLACED, ()))
            setattr(metadata, _REPLACED, sorted(object_names(before) - object_names(metadata)))
    publish(client, path, metadata, replaced)
    remove(client, root, stale - object_names(metadata))


def remove(client: S3Client, root: str, names: Iterable[str]) -> None:
    """Deletes objects below `root`; failures are logged."""
    bucket, prefix = bucket_and_folder(root)
    keys = sorted(prefix + name for name in names if name and not name.startswith("/"))
    for begin in range(0, len(keys), DELETE_AT_ONCE):
        try:
            failures = client.core.delete_objects(bucket, keys[begin : begin + DELETE_AT_ONCE])
        except S3Exception as error:
            log.warning("%d replaced objects below %s stay: %s", len(keys) - begin, root, error)
            return
        for key, code, message in failures:
            log.warning("the replaced object s3://%s/%s stays: %s %s", bucket, key, code, message)
