"""Lists of shards: URLs with braces, and the archives below a prefix."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .._listing import get_objects_from_prefix
from .._objects import S3BucketKeyData

if TYPE_CHECKING:
    from .._session import Session

_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)$")
MAX_URLS = 10_000_000


def _alternatives(text: str) -> Iterator[str]:
    """Yields what the inside of a pair of braces stands for: numbers of a range, or texts separated by commas."""
    found = _RANGE.match(text)
    if found is not None:
        first, last = int(found[1]), int(found[2])
        if abs(last - first) >= MAX_URLS:
            raise ValueError(f"{{{text}}} has more than {MAX_URLS} numbers")
        padded = any(re.match(r"-?0\d", end) for end in found.groups())
        width = max(len(found[1]), len(found[2])) if padded else 0
        for number in range(first, last + (1 if first <= last else -1), 1 if first <= last else -1):
            yield f"{number:0{width}d}"
        return
    depth = begin = 0
    for at, character in enumerate(text):
        if character == "," and depth == 0:
            yield from expand_braces(text[begin:at])
            begin = at + 1
        depth += (character == "{") - (character == "}")
    yield from expand_braces(text[begin:])


def expand_braces(text: str) -> list[str]:
    """Expands ``{000..099}`` and ``{a,b}`` as bash does. Braces without a range or a comma inside stay as they are."""
    for begin in (at for at, character in enumerate(text) if character == "{"):
        depth = 0
        for end in range(begin, len(text)):
            depth += (text[end] == "{") - (text[end] == "}")
            if depth == 0:
                break
        else:
            continue
        inside = text[begin + 1 : end]
        if _RANGE.match(inside) or "," in re.sub(r"\{[^{}]*\}", "", inside):
            rest = expand_braces(text[end + 1 :])
            return [text[:begin] + middle + tail for middle in _alternatives(inside) for tail in rest]
    return [text]


def expand_urls(urls: str | Iterable[str]) -> str | Iterable[str]:
    """Expands braces and ``::`` in a string, as webdataset does. Other iterables of URLs are returned as they are."""
    if not isinstance(urls, str):
        return urls
    return [url for pattern in urls.split("::") for url in expand_braces(pattern)]


class ObjectsWithSuffix:
    """The ``get_dataset_objects`` callable of ``from_prefix``: the objects below a prefix with one of some suffixes. Picklable.

    Raises:
        ValueError: From the call: there is no such object.
    """

    def __init__(self, s3_uri: str, suffixes: tuple[str, ...]) -> None:
        self._s3_uri = s3_uri
        self._suffixes = suffixes

    def __call__(self, client: Session) -> list[S3BucketKeyData]:
        found = [item for item in get_objects_from_prefix(self._s3_uri, client) if item.key.endswith(self._suffixes)]
        if not found:
            raise ValueError(f"no object below {self._s3_uri!r} ends with {' or '.join(self._suffixes)}; check the prefix")
        return found
