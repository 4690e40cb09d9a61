"""What a command does, decided from listings alone: no I/O, no clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from .._exceptions import S3DataLossError
from ._filters import Filters
from ._urls import Place, S3Url, below


class Entry(NamedTuple):
    """A file or object of a listing.

    Attributes:
        name: Name relative to the folder of the listing, with slashes. A folder marker's ends in a slash, or is empty.
        place: The file or object.
        size: Size in bytes.
        modified: Time of the last change in seconds since the epoch.
        etag: ETag of an object, in quotes.
        version_id: Version of an object, if the command selects one.
    """

    name: str
    place: Place
    size: int
    modified: float
    etag: str | None = None
    version_id: str | None = None

    @property
    def is_marker(self) -> bool:
        """Whether this is an object that stands for a folder: consoles create them."""
        return isinstance(self.place, S3Url) and self.place.is_folder


class Transfer(NamedTuple):
    """A copy from one place to another, at least one of them in S3.

    Attributes:
        entry: What to copy.
        target: Where to. Its name if it is a file or object.
        root: The folder that `target` must stay in; None: any.
        move: Delete the source after the copy.
        compare: The file or object at `target` that has the same size: copy only if the contents differ.
    """

    entry: Entry
    target: Place
    root: str | None = None
    move: bool = False
    compare: Entry | None = None

    @property
    def operation(self) -> str:
        if self.move:
            return "move"
        if not isinstance(self.entry.place, S3Url):
            return "upload"
        return "copy" if isinstance(self.target, S3Url) else "download"


# How sync decides whether a pair of the same name and the same size differs. `target` is the existing one.
Rule = Callable[[Entry, Entry], bool]


def differs_by_time(source: Entry, target: Entry) -> bool:
    """The rule of ``aws s3 sync``.

    A target in S3 is up to date if it was modified at the time of the source, or later. A local target is up to date if it was
    modified at the time of the object, or earlier: downloads set the time of the object, so a later time means a local change.

    Source: https://docs.aws.amazon.com/cli/latest/reference/s3/sync.html
    """
    if isinstance(target.place, S3Url):
        return target.modified < source.modified
    return target.modified > source.modified


def differs_by_exact_time(source: Entry, target: Entry) -> bool:
    """The rule of ``--exact-timestamps``: as :func:`differs_by_time`, but a local target must have the time of the object."""
    if isinstance(target.place, S3Url):
        return differs_by_time(source, target)
    return target.modified != source.modified


def never_differs(source: Entry, target: Entry) -> bool:
    """The rule of ``--size-only``."""
    del source, target
    return False


class SyncPlan(NamedTuple):
    """The next step of a sync: one of the two is None.

    Attributes:
        transfer: Copy this.
        delete: Delete this at the target.
    """

    transfer: Transfer | None = None
    delete: Entry | None = None


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def in_order(entries: Iterable[Entry], what: str) -> Iterator[Entry]:
    """Checks that the names of a listing ascend by their bytes. For sync, a name that is late would look like a missing one.

    Raises:
        S3DataLossError: They do not.
    """
    last: bytes | None = None
    for entry in entries:
        name = _bytes(entry.name)
        if last is not None and name <= last:
            raise S3DataLossError(
                f"the listing of {what} is not in ascending order: {entry.name!r} follows {last.decode('utf-8', 'replace')!r};"
                " sync needs a service that sorts its listings"
            )
        last = name
        yield entry


def merge(sources: Iterator[Entry], targets: Iterator[Entry]) -> Iterator[tuple[Entry | None, Entry | None]]:
    """Joins two ascending listings by name. Yields pairs of which one may be None."""
    source, target = next(sources, None), next(targets, None)
    while source is not None or target is not None:
        if target is None or (source is not None and _bytes(source.name) < _bytes(target.name)):
            yield source, None
            source = next(sources, None)
        elif source is None or _bytes(target.name) < _bytes(source.name):
            yield None, target
            target = next(targets, None)
        else:
            yield source, target
            source, target = next(sources, None), next(targets, None)


def sync(
    sources: Iterator[Entry],
    targets: Iterator[Entry],
    root: Place,
    filters: Filters,
    rule: Rule | None,
    *,
    delete: bool = False,
) -> Iterator[SyncPlan]:
    """Plans a sync.

    Args:
        sources: Ascending by name.
        targets: Ascending by name.
        root: Folder of the targets.
        filters: Names that they exclude are neither copied nor deleted.
        rule: Compares pairs of the same size; None: the contents are compared later.
        delete: Delete targets that have no source.
    """
    local_root = None if isinstance(root, S3Url) else root
    for source, target in merge(sources, targets):
        name = (source or target or Entry("", "", 0, 0)).name
        if not filters.selects(name):
            continue
        if source is None:
            if delete and target is not None and not target.is_marker:
                yield SyncPlan(delete=target)
        elif target is None or source.size != target.size:
            yield SyncPlan(Transfer(source, below(root, name), local_root))
        elif rule is None:
            yield SyncPlan(Transfer(source, below(root, name), local_root, compare=target))
        elif rule(source, target):
            yield SyncPlan(Transfer(source, below(root, name), local_root))


class FileFolderConflicts:
    """Finds keys that need a file of the same download as a folder: ``a`` and ``a/b``. Needs names in ascending order."""

    def __init__(self) -> None:
        self._open: list[str] = []  # names that the next name may begin with

    def file_above(self, name: str) -> str | None:
        """Returns the earlier name that would have to be a folder for `name` to be a file; None: there is none."""
        while self._open and not name.startswith(self._open[-1]):
            self._open.pop()
        found = next((above for above in self._open if name.startswith(above + "/")), None)
        self._open.append(name)
        return found


class CaseConflicts:
    """Finds names of one download that a file system without upper and lower case takes as one name."""

    def __init__(self) -> None:
        self._seen: dict[str, str] = {}

    def earlier(self, name: str) -> str | None:
        """Returns the earlier name that differs from `name` only in case; None: there is none."""
        first = self._seen.setdefault(name.casefold(), name)
        return None if first == name else first
