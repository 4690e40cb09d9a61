"""The claim of a save: a small object beside `.metadata` that says, as long as it is there, that somebody saves or was killed.

Who puts it and then finds no `.metadata` has the plain names for himself: they are nobody else's until a `.metadata` is there.
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
# A claim that is refused and gone when we look belonged to a save that has just ended: the next try gets it.
CLAIM_ATTEMPTS = 3
_RANK = re.compile(r"__\d+_\Z")


class Claim(NamedTuple):
    """`own`: ETag of the claim that we put; `found`: of another's. Never both; neither where others came and went."""

    path: str
    own: str | None = None
    found: str | None = None


class OpenUpload(NamedTuple):
    bucket: str
    key: str
    upload_id: str


def claim(client: S3Client, metadata_path: str) -> Claim | None:
    """Puts the claim where there is none: one conditional PutObject. None: the service knows no conditional writes.

    Raises:
        S3Exception: S3 did not say whether there is one.
    """
    path = metadata_path + SUFFIX
    bucket, key = bucket_and_key(path)
    data = json.dumps({"save": secrets.token_hex(16), "time": time.time()}).encode()
    for _ in range(CLAIM_ATTEMPTS):
        try:
            return Claim(path, own=client.core.put_object(bucket, key, data, if_none_match=True).strip('"'))
        except (S3PreconditionFailedError, S3ConflictError):
            found = etag_of(client, path)
            if found:
                log.info("%s is there: another save is under way or was killed; this one gives its objects new names", path)
                return Claim(path, found=found)
        except S3Exception as error:
            if not knows_no_conditions(error):
                raise
            log.warning("%s: the service knows no conditional writes (%s); two saves at a time are not kept apart", path, error)
            return None
    return Claim(path)


def release(client: S3Client, claimed: Claim) -> None:
    """Deletes the claim that we put or found, and none that came after it; a failure is logged.

    Between the look and the deletion a newer one could take its place, but only where there is a `.metadata`: its save does not
    depend on it.
    """
    known = {claimed.own, claimed.found} - {None}
    try:
        if known and etag_of(client, claimed.path) in known:
            client.delete_object(*bucket_and_key(claimed.path))
    except S3Exception as error:
        log.warning("%s stays (%s); the next save there removes it", claimed.path, error)


def names_like(prefixes: Iterable[str], suffix: str, *, of_any_rank: bool) -> re.Pattern[str]:
    """Matches the objects that saves with such prefixes write, of whatever generation."""
    wanted: set[str] = set()
    for prefix in prefixes:
        rank = _RANK.search(prefix) if of_any_rank else None
        wanted.add(re.escape(prefix[: rank.start()]) + r"__\d+_" if rank else re.escape(prefix))
    return re.compile(f"(?:{'|'.join(sorted(wanted))})(?:g[0-9a-f]{{8}}_)?\\d+{re.escape(suffix)}")


def open_uploads(client: S3Client, root: str, names: re.Pattern[str]) -> list[OpenUpload]:
    """The multipart uploads of such names below `root` that are neither completed nor given up; none if S3 does not say."""
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
        log.warning("uploads that a killed save left open below %s, if there are any, stay: %s", root, error)
        return []


def abort(client: S3Client, uploads: Iterable[OpenUpload]) -> None:
    """Gives uploads up; failures are logged."""
    for each in uploads:
        try:
            client.core.abort_multipart_upload(each.bucket, each.key, each.upload_id)
        except S3NotFoundError:
            pass  # its owner was faster
        except S3Exception as error:
            log.warning("an upload of s3://%s/%s stays open: %s", each.bucket, each.key, error)
