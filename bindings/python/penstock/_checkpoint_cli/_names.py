"""Names of the objects in a distributed checkpoint's folder: those that torch uses, and those of a running save."""

from __future__ import annotations

import re

METADATA = ".metadata"
SHARD_SUFFIX = ".distcp"
# Metadata of one rank, which a save without collectives publishes.
_OF_RANK = re.compile(r"__(\d+)\.metadata")
_SHARD_OF_RANK = re.compile(r"__(\d+)_")
# Suffixes of objects that exist before the metadata is published: a save lock, and a temporary object that will be renamed.
_LOCK_SUFFIXES = (".saving", ".tmp")


def folder_of(key: str) -> str:
    """Returns the folder of a key, with a trailing slash."""
    return key[: key.rfind("/") + 1]


def name_of(key: str) -> str:
    return key.rpartition("/")[2]


def rank_of_metadata(key: str) -> int | None:
    found = _OF_RANK.fullmatch(name_of(key))
    return int(found[1]) if found else None


def is_metadata(key: str) -> bool:
    """Whether `key` names the metadata of all ranks or of one rank."""
    return name_of(key) == METADATA or rank_of_metadata(key) is not None


def is_save_lock(key: str) -> bool:
    """Whether an object with this key indicates a running save."""
    return any(key.endswith(suffix) and is_metadata(key.removesuffix(suffix)) for suffix in _LOCK_SUFFIXES)


def save_lock_of(metadata: str) -> str:
    """Returns the key of the save lock of S3StorageWriter for a metadata object."""
    return metadata + _LOCK_SUFFIXES[0]


def is_shard(key: str) -> bool:
    return key.endswith(SHARD_SUFFIX)


def rank_of_shard(key: str) -> int | None:
    """Returns the rank that wrote a shard; None if a custom prefix strategy named the shard."""
    found = _SHARD_OF_RANK.match(name_of(key))
    return int(found[1]) if found else None


def above(folder: str) -> list[str]:
    """Returns the parent folders of a folder, nearest first. The root of the bucket is the empty string."""
    found: list[str] = []
    while folder:
        folder = folder_of(folder[:-1])
        found.append(folder)
    return found
