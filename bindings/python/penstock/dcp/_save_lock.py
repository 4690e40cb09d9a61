"""The lock of a save: a small object beside `.metadata` that exists while a save runs, and stays if the save is killed.

A save that creates the lock and then finds no `.metadata` owns the plain object names: no other save uses them before a
`.metadata` is published. The lock does not block other saves; a save without the lock uses unique names.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import time
from collections.abc import Iterable
from typing import NamedTuple

from .._client import S3Client
from .._exceptions import S3ConflictError, S3Exception, S3NotFoundError, S3PreconditionFailedError
from ._file_system import bucket_and_folder, bucket_and_key, etag_of, knows_no_conditions

log = logging.getLogger(__name__)

SUFFIX = ".saving"
# If the lock exists when we try to create it, and is gone when we read it, the other save has just ended: try again.
LOCK_ATTEMPTS = 3
_RANK = re.compile(r"__\d+_\Z")


class SaveLock(NamedTuple):
    """The result of `acquire`.

    Attributes:
        path: URI of the lock object.
        own: ETag of the lock that this save created.
        found: ETag of the lock of another save. Never set together with `own`; both are None after `LOCK_ATTEMPTS` conflicts.
    """

    path: str
    own: str | None = None
    found: str | None = None


class OpenUpload(NamedTuple):
    bucket: str
    key: str
    upload_id: str


def acquire(client: S3Client, metadata_path: str) -> SaveLock | None:
    """Creates the lock object by a conditional PutObject, unless it exists.

    Returns:
        The lock; None if the service does not support conditional writes.

    Raises:
        S3Exception: A request failed, and it is unknown whether the lock exists.
    """
    path = metadata_path + SUFFIX
    bucket, key = bucket_and_key(path)
    data = json.dumps({"save": secrets.token_hex(16), "time": time.time()}).encode()
    for _ in range(LOCK_ATTEMPTS):
        try:
            return SaveLock(path, own=client.core.put_object(bucket, key, data, if_none_match=True).strip('"'))
        except (S3PreconditionFailedError, S3ConflictError):
            found = etag_of(client, path)
            if found:
                log.info("%s exists: another save is running or was killed; this save uses new object names", path)
                return SaveLock(path, found=found)
        except S3Exception as error:
            if not knows_no_conditions(error):
                raise
            log.warning("%s: the service does not support conditional writes (%s); concurrent saves may conflict", path, error)
            return None
    return SaveLock(path)


def release(client: S3Client, lock: SaveLock) -> None:
    """Deletes the lock object if it is still the one that `lock` describes. Logs failures.

    Another save may replace the object between the check and the deletion, but only after a `.metadata` was published. That save
    does not depend on its lock.
    """
    known = {lock.own, lock.found} - {None}
    try:
        if known and etag_of(client, lock.path) in known:
            client.delete_object(*bucket_and_key(lock.path))
    except S3Exception as error:
        log.warning("cannot remove %s (%s); the next save there removes it", lock.path, error)


def names_like(prefixes: Iterable[str], suffix: str, *, of_any_rank: bool) -> re.Pattern[str]:
    """Returns a pattern that matches the names of all objects that saves with these prefixes write, of any generation."""
    wanted: set[str] = set()
    for prefix in prefixes:
        rank = _RANK.search(prefix) if of_any_rank else None
        wanted.add(re.escape(prefix[: rank.start()]) + r"__\d+_" if rank else re.escape(prefix))
    return re.compile(f"(?:{'|'.join(sorted(wanted))})(?:g[0-9a-f]{{8}}_)?\\d+{re.escape(suffix)}")


def open_uploads(client: S3Client, root: str, names: re.Pattern[str]) -> list[OpenUpload]:
    """Lists the open multipart uploads below `root` whose names match. Returns an empty list, and logs, if listing fails."""
    bucket, prefix = bucket_and_folder(root)
    found: list[OpenUpload] = []
    key_marker = id_marker = ""
    try:
        while True:
            page, key_marker, id_marker = client.core.list_open_uploads(bucket, prefix, key_marker, id_marker)
            found += [OpenUpload(bucket, key, upload) for key, upload, _ in page if names.fullmatch(key[len(prefix) :])]
            if not key_marker:
                return found
    except S3Exception as error:
        log.warning("cannot list the open multipart uploads below %s; those of a killed save are kept: %s", root, error)
        return []


def abort(client: S3Client, uploads: Iterable[OpenUpload]) -> None:
    """Aborts multipart uploads. Logs failures."""
    for each in uploads:
        try:
            client.core.abort_multipart_upload(each.bucket, each.key, each.upload_id)
        except S3NotFoundError:
            pass  # completed or aborted meanwhile
        except S3Exception as error:
            log.warning("cannot abort a multipart upload of s3://%s/%s: %s", each.bucket, each.key, error)
