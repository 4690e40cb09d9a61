"""What an object of a distributed checkpoint's folder is, by its name: torch's, and those of saves under way."""

from __future__ import annotations

import re

METADATA = ".metadata"
SHARD_SUFFIX = ".distcp"
# A save without collectives publishes one for each rank.
_OF_RANK = re.compile(r"__(\d+)\.metadata")
_SHARD_OF_RANK = re.compile(r"__(\d+)_")
# Beside the metadata that a save is about to publish: a claim, and what writers that rename have before they do.
_UNDER_WAY = (".saving", ".tmp")


def folder_of(key: str) -> str:
    """The folder that a key is in, with its slash."""
    return key[: key.rfind("/") + 1]


def name_of(key: str) -> str:
    return key.rpartition("/")[2]


def rank_of_metadata(key: str) -> int | None:
    found = _OF_RANK.fullmatch(name_of(key))
    return int(found[1]) if found else None


def is_metadata(key: str) -> bool:
    """Of all ranks, or of one."""
    return name_of(key) == METADATA or rank_of_metadata(key) is not None


def is_claim(key: str) -> bool:
    """Whether it says that a save is under way in its folder."""
    return any(key.endswith(suffix) and is_metadata(key.removesuffix(suffix)) for suffix in _UNDER_WAY)


def claim_of(metadata: str) -> str:
    """Where a save of ours says that it will publish that metadata."""
    return metadata + _UNDER_WAY[0]


def is_shard(key: str) -> bool:
    return key.endswith(SHARD_SUFFIX)


def rank_of_shard(key: str) -> int | None:
    """None: a strategy of somebody's own named it."""
    found = _SHARD_OF_RANK.match(name_of(key))
    return int(found[1]) if found else None


def above(folder: str) -> list[str]:
    """The folders that a folder lies in, the nearest first; the bucket's root is empty."""
    found: list[str] = []
    while folder:
        folder = folder_of(folder[:-1])
        found.append(folder)
    return found
