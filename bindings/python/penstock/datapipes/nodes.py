"""S3Lister and S3Reader: nodes of torchdata's ``torchdata.nodes`` (0.10 and later) for URLs and objects of S3.

::

    from penstock.datapipes.nodes import S3Lister, S3Reader
    from torchdata.nodes import Loader

    loader = Loader(S3Reader(S3Lister("s3://bucket/train/", region="us-east-1")))
    for url, stream in loader:
        ...
    state = loader.state_dict()  # a later loader.load_state_dict(state) continues after the last item
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from .._config import check_type
from .._objects import parse_s3_uri
from .._versions import is_directory_bucket
from ._handler import S3Handler
from ._stream import S3Stream, match_masks
from ._versions import torchdata_version

try:
    from torchdata.nodes import BaseNode
except ModuleNotFoundError as error:
    if not (error.name or "").startswith("torchdata"):
        raise
    _version = torchdata_version()
    _found = f"{_version[0]}.{_version[1]} is installed" if _version else "it is not installed"
    raise ModuleNotFoundError(
        f"penstock.datapipes.nodes needs torchdata 0.10 or later, and {_found}: pip install 'torchdata>=0.10'", name=error.name
    ) from None

if TYPE_CHECKING:
    from .._config import S3ClientConfig
    from .._prefetcher import Prefetcher

__all__ = ["S3Lister", "S3Reader"]


class S3Lister(BaseNode[str]):
    """Yields the URLs of the objects below prefixes, in S3's order. Folders (keys that end with ``/``) are left out.

    Its state is the last listed key, so that resuming lists only what follows, also if objects were added or removed before it.
    In directory buckets, which cannot list from a key, it is a number of keys. Ranks share the URLs by their number: they must
    resume together, and with several ranks objects must not be added or removed before the last yielded key of a rank.

    Args:
        prefixes: One prefix or several: ``s3://bucket``, ``s3://bucket/folder/``, ``s3://bucket/any-prefix``.
        masks: Patterns of :mod:`fnmatch`, one or several. Only URLs that match one of them are yielded; empty: all.
        rank: With `world_size`, only every `world_size`-th matching URL is yielded, from the one at index `rank` on.
        world_size: The number of ranks that share the URLs.
        region: As in :class:`penstock.datapipes.iter.S3FileLister`, like the following arguments.

    Raises:
        TypeError: An argument is of another type.
        ValueError: `rank` or `request_timeout_ms` is out of range, or a prefix is not an ``s3://`` URL.
        S3Exception: From iterating: a listing failed. Also a ValueError. The next item continues at the same place.
    """

    def __init__(
        self,
        prefixes: str | Iterable[str],
        *,
        masks: str | list[str] = "",
        rank: int = 0,
        world_size: int = 1,
        request_timeout_ms: int = -1,
        region: str = "",
        endpoint: str | None = None,
        s3client_config: S3ClientConfig | None = None,
    ) -> None:
        super().__init__()
        check_type("prefixes", prefixes, (Iterable,))
        check_type("masks", masks, (str, list, tuple))
        check_type("rank", rank, (int,))
        check_type("world_size", world_size, (int,))
        if not 0 <= rank < world_size:
            raise ValueError(f"rank must be 0 to world_size - 1 ({world_size - 1}), not {rank}")
        self._prefixes = [prefixes] if isinstance(prefixes, str) else list(prefixes)
        self._buckets = [parse_s3_uri(prefix)[0] for prefix in self._prefixes]
        self._masks = masks
        self._rank, self._world_size = rank, world_size
        self._handler = S3Handler(request_timeout_ms, region, endpoint=endpoint, s3client_config=s3client_config)
        self._state: dict[str, Any] = {}
        self._urls: Iterator[tuple[str, dict[str, Any]]] = iter(())

    def reset(self, initial_state: dict[str, Any] | None = None) -> None:
        """Starts at the first URL, or continues at a state that :meth:`state_dict` returned.

        Raises:
            ValueError: `initial_state` is not such a state, or is one of a node with other prefixes, rank or number of ranks.
        """
        super().reset(initial_state)
        same = {"prefixes": self._prefixes, "rank": self._rank, "world_size": self._world_size}
        place: dict[str, Any] = {"prefix": 0, "last": "", "in_prefix": 0, "matched": 0}
        if initial_state is not None:
            try:
                place = {name: type(default)(initial_state[name]) for name, default in place.items()}
                saved = {name: initial_state[name] for name in same}
            except (KeyError, TypeError, ValueError):
                raise ValueError(f"{initial_state!r} is not a state of an S3Lister; pass a result of state_dict()") from None
            for name, value in same.items():
                if saved[name] != value:
                    raise ValueError(f"the state is of an S3Lister with {name} {saved[name]!r}, but this one has {value!r}")
            if not 0 <= place["prefix"] <= max(0, len(self._prefixes) - 1):
                raise ValueError(f"the state is in prefix {place['prefix']}, but this S3Lister has {len(self._prefixes)}")
        self._state = place | same
        self._urls = self._list()

    def _list(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields the URLs after `_state`, each with the state after it."""
        state = dict(self._state)
        for number in range(state["prefix"], len(self._prefixes)):
            if number != state["prefix"]:
                state.update(prefix=number, last="", in_prefix=0)
            skip = state["in_prefix"] if is_directory_bucket(self._buckets[number]) else 0
            pages = self._handler.pages(self._prefixes[number], "" if skip else state["last"])
            for url in islice((url for page in pages for url in page), skip, None):
                state["last"] = parse_s3_uri(url)[1]
                state["in_prefix"] += 1
                if not match_masks(url, self._masks):
                    continue
                mine = state["matched"] % self._world_size == self._rank
                state["matched"] += 1
                if mine:
                    yield url, dict(state)

    def next(self) -> str:
        try:
            url, state = next(self._urls)
        except StopIteration:
            raise
        except BaseException:  # also Ctrl-C: it has ended the generator
            self._urls = self._list()
            raise
        self._state = state
        return url

    def get_state(self) -> dict[str, Any]:
        return dict(self._state)


class S3Reader(BaseNode["tuple[str, S3Stream]"]):
    """Yields each URL of a node with a stream of its object's bytes, and reads the next objects in advance.

    Its state is the state of `source` after the last yielded URL. Objects that were read in advance and not yielded are read
    again after resuming. A stream starts at the beginning of its object.

    Args:
        source: Node of URLs ``s3://bucket/key``, such as :class:`S3Lister`.
        buffer_size: As in :class:`penstock.datapipes.iter.S3FileLoader`, like the following arguments.

    Raises:
        TypeError: An argument is of another type.
        ValueError: `buffer_size` or `request_timeout_ms` is out of range. From iterating: a URL is not ``s3://bucket/key``.
        S3Exception: From iterating: an object cannot be read. Also a ValueError. The next item is the next object.
    """

    def __init__(
        self,
        source: BaseNode[str],
        *,
        buffer_size: int | str | None = None,
        multi_part_download: bool | None = None,
        request_timeout_ms: int = -1,
        region: str = "",
        endpoint: str | None = None,
        s3client_config: S3ClientConfig | None = None,
    ) -> None:
        super().__init__()
        check_type("source", source, (BaseNode,))
        self._source = source
        self._handler = S3Handler(
            request_timeout_ms, region, buffer_size=buffer_size, multi_part_download=multi_part_download, endpoint=endpoint,
            s3client_config=s3client_config,
        )  # fmt: skip
        self._readers: Prefetcher | None = None
        self._states: deque[dict[str, Any]] = deque()  # of `source`, after each URL that was taken and not yielded
        self._state: dict[str, Any] = {}

    def reset(self, initial_state: dict[str, Any] | None = None) -> None:
        """Starts at the first object, or continues at a state that :meth:`state_dict` returned.

        Raises:
            ValueError: `initial_state` is not such a state.
        """
        super().reset(initial_state)
        if initial_state is not None and "source" not in initial_state:
            raise ValueError(f"{initial_state!r} is not a state of an S3Reader; pass a result of state_dict()")
        self.shutdown()
        self._source.reset(None if initial_state is None else initial_state["source"])
        self._state = self._source.state_dict()

    def shutdown(self) -> None:
        """Cancels the reads in advance. Call :meth:`reset` before the next item."""
        if self._readers is not None:
            self._readers.close()
        self._readers = None
        self._states.clear()

    def _urls(self) -> Iterator[str]:
        for url in self._source:
            self._states.append(self._source.state_dict())
            yield url

    def next(self) -> tuple[str, S3Stream]:
        if self._readers is None:
            self._readers = self._handler.prefetch(self._urls())
        try:
            reader = self._next_reader(self._readers)
            state = self._states.popleft()
            url, file = self._handler.open(reader)
        except Exception:
            raise
        except BaseException:  # Ctrl-C may have ended the source: read on after the last item
            self.shutdown()
            self._source.reset(self._state)
            raise
        self._state = state
        return url, S3Stream(file, url)

    def _next_reader(self, readers: Prefetcher) -> Any:
        try:
            return next(readers)
        except StopIteration:
            raise
        except Exception:  # of the source, or its URL names no object: continue after it
            self._readers = None
            if self._states:
                self._state = self._states.pop()
            self._states.clear()
            raise

    def get_state(self) -> dict[str, Any]:
        return {"source": self._state}
