"""EpochDataset: items in an order that (seed, epoch) determine, in streams that ranks and workers share."""

from __future__ import annotations

import hashlib
import heapq
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import NoneType
from typing import Any, Protocol

import torch
from torch.utils.data import IterableDataset, get_worker_info

from .._config import check_type
from .._iterable_dataset import _rank_and_world_size
from ._order import permutation

_NO_ITERATION = -1
MAX_EPOCH = 2**62


def check_epoch(epoch: int) -> None:
    """Raises TypeError or ValueError if `epoch` is not the number of an epoch."""
    check_type("epoch", epoch, (int,))
    if not 0 <= epoch < MAX_EPOCH:
        raise ValueError(f"epoch must be 0 to {MAX_EPOCH - 1}, not {epoch}")


class Stopped(Exception):
    """A handler returned False: the iteration ends."""


class Skipped(Exception):
    """A handler returned True: the item is left out."""


class Stream(Protocol):
    """One of the sequences of an epoch's order."""

    yielded: int
    """Items that were yielded."""

    def next(self) -> Any:
        """Returns the next item. Raises StopIteration at the end. After another exception, the position is unchanged."""

    def state_dict(self) -> dict[str, Any]:
        """Returns the position, in values that JSON can store."""


class _Streams(Iterator[Any]):
    """Iterator over several streams: the next item is of the stream that yielded the fewest, the lowest number among equals."""

    def __init__(self, streams: Mapping[int, Stream], transform: Callable[[Any], Any]) -> None:
        self._streams = streams
        self._transform = transform
        self._queue = [(stream.yielded, number) for number, stream in streams.items()]
        heapq.heapify(self._queue)

    def __next__(self) -> Any:
        while self._queue:
            number = self._queue[0][1]
            stream = self._streams[number]
            try:
                item = stream.next()
            except StopIteration:
                heapq.heappop(self._queue)
                continue
            heapq.heapreplace(self._queue, (stream.yielded, number))
            try:
                return self._transform(item)
            except Skipped:
                continue
            except Stopped:
                self._queue.clear()
        raise StopIteration

    def states(self) -> dict[str, Any]:
        return {str(number): stream.state_dict() for number, stream in self._streams.items()}


def _states_within(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yields the states of an EpochDataset in nested containers, such as the state of a StatefulDataLoader."""
    if isinstance(value, Mapping):
        if value.get("_steps_since_snapshot"):
            raise ValueError(
                "the state of a StatefulDataLoader is some batches behind: create the loader with snapshot_every_n_steps=1"
            )
        if "streams" in value and "num_streams" in value:
            yield value
            return
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return
    for each in value:
        yield from _states_within(each)


def merge_states(states: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns one state of an epoch from the states of all ranks and workers, for any number of ranks and workers.

    Load the result into the dataset of every rank before its DataLoader is created.

    Args:
        states: For each rank, the result of `state_dict` of its dataset or of its StatefulDataLoader, which contains the states
            of its workers.

    Raises:
        ValueError: The states belong to different epochs or datasets, a state is missing or present twice, or a loader's state
            is not that of its last batch.
    """
    merged: dict[str, Any] | None = None
    for state in _states_within(list(states)):
        if merged is None:
            merged = {name: value for name, value in state.items() if name != "worker"} | {"streams": {}}
        for name, value in merged.items():
            if name != "streams" and state.get(name) != value:
                raise ValueError(
                    f"the states differ: {name} is {value!r} in one and {state.get(name)!r} in another; merge states that all"
                    " ranks saved at the same time"
                )
        twice = merged["streams"].keys() & state["streams"].keys()
        if twice:
            raise ValueError(f"two states have the stream {min(twice, key=int)}; pass the state of each rank once")
        merged["streams"].update(state["streams"])
    if merged is None:
        raise ValueError("found no state of a dataset of penstock.data; pass results of state_dict()")
    missing = [number for number in range(merged["num_streams"]) if str(number) not in merged["streams"]]
    if missing:
        raise ValueError(
            f"the states of {len(missing)} of {merged['num_streams']} streams are missing, the first is {missing[0]}; pass the"
            " states of all ranks"
        )
    return merged


class EpochDataset(IterableDataset[Any]):
    """Base class of iterable datasets with an order that depends on (seed, epoch) only.

    The units (shards, row groups) of an epoch are shuffled or not, and dealt to `num_streams` streams in turn. With W workers of
    all ranks together, worker w has the streams w, w + W, ... and yields an item of each in turn. If `num_streams` is a multiple
    of W, position p of all workers together has the same item for every such W.

    Args:
        seed: Seed of all shuffling.
        shuffle_units: Shuffle the order of the units.
        num_streams: Number of streams; None: the number of workers of all ranks at the first iteration.
    """

    _kind = ""

    def _init_epochs(self, seed: int, shuffle_units: bool, num_streams: int | None) -> None:
        check_type("seed", seed, (int,))
        check_type("num_streams", num_streams, (int, NoneType))
        if num_streams is not None and num_streams < 1:
            raise ValueError(f"num_streams must be None or at least 1, not {num_streams}")
        self._seed = seed
        self._shuffle_units = shuffle_units
        self._num_streams = num_streams
        # Shared with workers: the epoch, and a number of the iteration that continues at a loaded state.
        self._shared = torch.tensor([0, _NO_ITERATION], dtype=torch.int64).share_memory_()  # type: ignore[no-untyped-call]
        self._rank, self._world_size = _rank_and_world_size()
        self._resume: Mapping[str, Any] | None = None
        self._streams: _Streams | None = None
        self._header: dict[str, Any] = {}

    @abstractmethod
    def _units(self) -> Sequence[Any]:
        """Returns all units in order."""

    @abstractmethod
    def _unit_name(self, unit: Any) -> str:
        """Returns a text that identifies a unit."""

    @abstractmethod
    def _open_stream(
        self, units: Sequence[Any], order: Sequence[int], key: tuple[int, ...], share: int, state: Mapping[str, Any] | None
    ) -> Stream:
        """Returns a stream.

        Args:
            units: All units.
            order: Indices of the units of this stream.
            key: Numbers that identify the stream and epoch, for shuffling.
            share: The number of streams of this worker, which share the memory.
            state: The position to continue at; None: the start.
        """

    def _settings(self) -> dict[str, Any]:
        """Returns the settings that change the order."""
        return {"shuffled": self._shuffle_units}

    def _finish(self, item: Any) -> Any:
        """Turns an item of a stream into the item that iteration yields."""
        return item

    def __getstate__(self) -> dict[str, Any]:
        self._update_rank()
        return {**self.__dict__, "_streams": None}

    def _update_rank(self) -> None:
        rank, world_size = _rank_and_world_size()
        if world_size > 1:
            self._rank, self._world_size = rank, world_size

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch of the following iterations, also of persistent workers. Without it, every epoch has the same order.

        Args:
            epoch: A number of at least 0.

        Raises:
            TypeError: `epoch` is not an int.
            ValueError: It is out of range.
        """
        check_epoch(epoch)
        self._shared[0] = epoch

    @property
    def epoch(self) -> int:
        """The epoch of the next iteration."""
        return int(self._shared[0])

    def _worker(self) -> tuple[int, int]:
        """Returns the number of this worker among those of all ranks, and how many they are."""
        self._update_rank()
        info = get_worker_info()
        worker, workers = (info.id, info.num_workers) if info is not None else (0, 1)
        return self._rank + worker * self._world_size, self._world_size * workers

    def _take_resume(self) -> Mapping[str, Any] | None:
        """Returns the state at which this iteration continues. Later iterations, also of other workers, get None.

        Workers of a later iteration may start with a copy of the loaded state, so the first one notes which iteration uses it.
        """
        resume, self._resume = self._resume, None
        if resume is None or resume["epoch"] != self.epoch:
            return None
        info = get_worker_info()
        if info is None:
            return resume
        iteration = (info.seed - info.id) & (2**62 - 1)  # all workers of an iteration have the same
        if int(self._shared[1]) not in (_NO_ITERATION, iteration):
            return None
        self._shared[1] = iteration
        return resume

    def _header_of(self, units: Sequence[Any], num_streams: int) -> dict[str, Any]:
        digest = hashlib.sha256("\n".join(map(self._unit_name, units)).encode("utf-8", "surrogatepass")).hexdigest()
        return {
            "dataset": type(self).__name__, "seed": self._seed, "epoch": self.epoch, "num_streams": num_streams,
            **self._settings(), "units": len(units), "digest": digest[:16],
        }  # fmt: skip

    def __iter__(self) -> Iterator[Any]:
        number, count = self._worker()
        resume = self._take_resume()
        num_streams = self._num_streams or (resume["num_streams"] if resume is not None else count)
        if count > num_streams:
            raise ValueError(
                f"{count} workers of all ranks share {num_streams} streams, so some would have none: use at most {num_streams}"
                " workers, or set num_streams when the training starts"
            )
        units = self._units()
        self._header = self._header_of(units, num_streams)
        if resume is not None:
            self._check_state(resume)
        key = (self._seed, self.epoch)
        indices = permutation(len(units), *key).tolist() if self._shuffle_units else list(range(len(units)))
        own: Sequence[int]
        if resume is None:
            own = range(number, num_streams, count)
        elif "worker" in resume:
            own = sorted(map(int, resume["streams"]))
        else:  # the worker whose turn it is begins
            position = sum(stream["yielded"] for stream in resume["streams"].values())
            own = range((position + number) % count, num_streams, count)
        streams = {}
        for stream in own:
            state = None if resume is None else resume["streams"][str(stream)]
            order = indices[stream::num_streams]
            streams[stream] = self._open_stream(units, order, (*key, stream), len(own), state)
        self._streams = _Streams(streams, self._finish)
        return self._streams

    def _check_state(self, state: Mapping[str, Any]) -> None:
        for name, value in self._header.items():
            if state.get(name) != value:
                raise ValueError(
                    f"the state is of another order: {name} is {state.get(name)!r} in the state and {value!r} here; create the"
                    " dataset with the same arguments, over the same objects"
                )
        worker = list(self._worker())
        if state.get("worker", worker) != worker:
            raise ValueError(
                f"the state is of worker {state['worker'][0]} of {state['worker'][1]}, and this is worker {worker[0]} of"
                f" {worker[1]}: after a change of the number of ranks or workers, load the result of penstock.data.merge_states"
            )

    def state_dict(self) -> dict[str, Any]:
        """Returns the position of the latest iteration in this process. JSON can store it.

        torchdata's StatefulDataLoader calls this in its workers. :func:`merge_states` combines the states of several.
        """
        if self._resume is not None:
            return dict(self._resume)
        if self._streams is None:
            iter(self)
        assert self._streams is not None
        return {**self._header, "worker": list(self._worker()), "streams": self._streams.states()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues the next iteration at a saved position, and sets the epoch to that of the state.

        Objects whose reading had begun must be those that they were: their reads are pinned to the ETags in the state.

        Args:
            state: A result of :meth:`state_dict` of a dataset with the same arguments, or of :func:`merge_states`.

        Raises:
            TypeError: `state` is not a mapping.
            ValueError: `state` is not such a result. Also from iterating, if it is of another order.
        """
        check_type("state", state, (Mapping,))
        if not isinstance(state.get("streams"), Mapping) or state.get("dataset") != type(self).__name__:
            raise ValueError(f"the state is not one of {type(self).__name__}; pass a result of state_dict() or merge_states()")
        if self._num_streams is None:
            self._num_streams = state["num_streams"]
        self.set_epoch(state["epoch"])
        self._shared[1] = _NO_ITERATION
        self._resume = dict(state)
