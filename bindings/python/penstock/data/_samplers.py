"""Samplers with an order that depends on (seed, epoch) only, and with states for any number of ranks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence, Sized
from math import isfinite
from types import NoneType
from typing import Any

import torch
from torch.utils.data import ConcatDataset, Sampler

from .._config import check_type
from .._iterable_dataset import _rank_and_world_size
from .._map_dataset import S3MapDataset
from ..s3reader import S3ReaderConstructor
from ._epochs import check_epoch
from ._order import hashes, permutation

_CHUNK = 4096  # positions whose indices are computed at a time
_FRACTION_BITS = 53  # of a float64


def _size_of(source: Sized | int) -> int:
    if not isinstance(source, int):
        return len(source)
    check_type("size", source, (int,))
    if source < 0:
        raise ValueError(f"the size of a dataset must be at least 0, not {source}")
    return source


class EpochSampler(Sampler[int]):
    """Base class of samplers. An epoch is a sequence of indices for all ranks; rank r of W has the positions r, r + W, ...

    Works in torch's DataLoader and in torchdata's StatefulDataLoader, which saves and loads the state. torch's DataLoader draws
    indices in advance, so pass the number of samples that were used to :meth:`state_dict`.

    Args:
        seed: Seed of the order.
        rank: This rank; None: from torch.distributed, when an iteration starts.
        world_size: The number of ranks; None: from torch.distributed.
        drop_last: Leave out the last positions if they are not enough for all ranks. Otherwise further positions are added.

    Raises:
        TypeError: An argument is of another type.
        ValueError: `rank` or `world_size` is out of range, or only one of them is given.
    """

    def __init__(self, seed: int, rank: int | None, world_size: int | None, drop_last: bool) -> None:
        check_type("seed", seed, (int,))
        check_type("rank", rank, (int, NoneType))
        check_type("world_size", world_size, (int, NoneType))
        if (rank is None) != (world_size is None):
            raise ValueError("rank and world_size belong together; give both or neither")
        if rank is not None and world_size is not None and not 0 <= rank < world_size:
            raise ValueError(f"rank must be 0 to world_size - 1 ({world_size - 1}), not {rank}")
        self._seed = seed
        self._fixed = None if rank is None or world_size is None else (rank, world_size)
        self._drop_last = drop_last
        self._epoch = 0
        self._resume: int | None = None
        self._begin = self._yielded = 0  # of the latest iteration: its first position, and the indices that this rank yielded

    @property
    @abstractmethod
    def _length(self) -> int:
        """The positions of an epoch."""

    @abstractmethod
    def _header(self) -> dict[str, Any]:
        """Returns the arguments that determine the order."""

    @abstractmethod
    def _indices(self, begin: int) -> Iterator[torch.Tensor]:
        """Yields the indices of the positions from `begin` on, in chunks, without an end."""

    def _place(self) -> tuple[int, int]:
        return self._fixed or _rank_and_world_size()

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch of the following iterations. Without it, every epoch has the same order.

        Args:
            epoch: A number of at least 0.

        Raises:
            TypeError: `epoch` is not an int.
            ValueError: It is out of range.
        """
        check_epoch(epoch)
        if epoch != self._epoch:
            self._resume = None
        self._epoch = epoch

    @property
    def epoch(self) -> int:
        """The epoch of the next iteration."""
        return self._epoch

    def _count(self, begin: int) -> int:
        """Returns the number of indices for each rank from a position on."""
        rest, world_size = max(0, self._length - begin), self._place()[1]
        return rest // world_size if self._drop_last else -(-rest // world_size)

    def __len__(self) -> int:
        return self._count(self._resume or 0)

    def __iter__(self) -> Iterator[int]:
        self._begin, self._resume, self._yielded = self._resume or 0, None, 0
        return self._iterate(self._begin, self._count(self._begin), *self._place())

    def _iterate(self, begin: int, count: int, rank: int, world_size: int) -> Iterator[int]:
        position, yielded, skipped = begin, 0, rank
        for chunk in self._indices(begin):
            own = chunk[skipped::world_size].tolist()
            for index in own[: count - yielded]:
                yielded += 1
                self._yielded = yielded
                yield index
            if yielded == count:
                return
            position += len(chunk)
            skipped = (rank - (position - begin)) % world_size

    def state_dict(self, used: int | None = None) -> dict[str, Any]:
        """Returns the position of the latest iteration, the same on all ranks. JSON can store it.

        Args:
            used: Indices of this rank that were used in the latest iteration; None: all that were drawn.

        Raises:
            ValueError: `used` is negative, or more than were drawn.
        """
        if self._resume is not None:
            position = self._resume
        else:
            if used is not None and not 0 <= used <= self._yielded:
                raise ValueError(f"used must be 0 to {self._yielded}, the indices that were drawn, not {used}")
            position = self._begin + (self._yielded if used is None else used) * self._place()[1]
        return {**self._header(), "epoch": self._epoch, "position": position}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues the next iteration at a saved position, and sets the epoch to that of the state.

        The number of ranks may have changed. Every rank loads the same state.

        Args:
            state: A result of :meth:`state_dict` of a sampler with the same arguments.

        Raises:
            TypeError: `state` is not a mapping.
            ValueError: `state` is not such a result.
        """
        check_type("state", state, (Mapping,))
        for name, value in self._header().items():
            if state.get(name) != value:
                raise ValueError(
                    f"the state is of another order: {name} is {state.get(name)!r} in the state and {value!r} here; create the"
                    " sampler with the same arguments"
                )
        epoch, position = state.get("epoch"), state.get("position")
        if not isinstance(epoch, int) or not isinstance(position, int) or position < 0:
            raise ValueError(f"{state!r} is not a state of a {type(self).__name__}; pass a result of state_dict()")
        self.set_epoch(epoch)
        self._resume = position


class ShardedSampler(EpochSampler):
    """The indices of a dataset, shuffled or in order, shared by all ranks.

    Every index is yielded once in an epoch, except that the ranks get equally many: see `drop_last`.

    Args:
        size: The dataset, or its length.
        shuffle: Whether the order is shuffled. Each epoch has its own order.
        seed: See :class:`EpochSampler`, also for the following arguments.
        rank: This rank.
        world_size: The number of ranks.
        drop_last: Leave out the last positions if they are not enough for all ranks.

    Raises:
        TypeError: An argument is of another type.
        ValueError: A number is out of range.
    """

    def __init__(
        self,
        size: Sized | int,
        *,
        shuffle: bool = True,
        seed: int = 0,
        rank: int | None = None,
        world_size: int | None = None,
        drop_last: bool = False,
    ) -> None:
        super().__init__(seed, rank, world_size, drop_last)
        self._size = _size_of(size)
        self._shuffle = shuffle

    @property
    def _length(self) -> int:
        return self._size

    def _header(self) -> dict[str, Any]:
        return {"sampler": type(self).__name__, "seed": self._seed, "size": self._size, "shuffle": self._shuffle}

    def _indices(self, begin: int) -> Iterator[torch.Tensor]:
        if self._size == 0:
            return
        order = permutation(self._size, self._seed, self._epoch) if self._shuffle else torch.arange(self._size)
        while True:
            place = begin % self._size
            chunk = order[place : place + _CHUNK]
            begin += len(chunk)
            yield chunk


class MixingSampler(EpochSampler):
    """Indices of several datasets, each drawn with a weight. An index counts the items of all datasets in turn.

    Use it with :class:`S3ConcatDataset`, or with torch's ``ConcatDataset``. The items of a dataset come in a shuffled order; once
    all have come, they come again in another order. Over n positions a dataset of weight w of the sum s has about n w / s items.

    Args:
        sizes: The datasets, or their lengths.
        weights: A weight for each dataset, at least 0.
        num_samples: Positions of an epoch for all ranks together; None: the sum of the lengths.
        seed: See :class:`EpochSampler`, also for the following arguments.
        rank: This rank.
        world_size: The number of ranks.
        drop_last: Leave out the last positions if they are not enough for all ranks.

    Raises:
        TypeError: An argument is of another type.
        ValueError: A number is out of range, or an empty dataset has a weight.
    """

    def __init__(
        self,
        sizes: Sequence[Sized | int],
        weights: Sequence[float],
        *,
        num_samples: int | None = None,
        seed: int = 0,
        rank: int | None = None,
        world_size: int | None = None,
        drop_last: bool = False,
    ) -> None:
        super().__init__(seed, rank, world_size, drop_last)
        check_type("num_samples", num_samples, (int, NoneType))
        self._sizes = [_size_of(size) for size in sizes]
        self._weights = [float(weight) for weight in weights]
        if len(self._weights) != len(self._sizes):
            raise ValueError(f"there are {len(self._sizes)} datasets and {len(self._weights)} weights; give a weight for each")
        if not all(isfinite(weight) and weight >= 0 for weight in self._weights) or not sum(self._weights) > 0:
            raise ValueError(f"weights must be numbers of at least 0, not all 0, not {self._weights}")
        for number, (size, weight) in enumerate(zip(self._sizes, self._weights, strict=True)):
            if size == 0 and weight > 0:
                raise ValueError(f"the dataset {number} is empty and has the weight {weight}; give it the weight 0")
        if num_samples is not None and num_samples < 0:
            raise ValueError(f"num_samples must be None or at least 0, not {num_samples}")
        self._num_samples = sum(self._sizes) if num_samples is None else num_samples

    @property
    def _length(self) -> int:
        return self._num_samples

    def _header(self) -> dict[str, Any]:
        return {
            "sampler": type(self).__name__, "seed": self._seed, "sizes": self._sizes, "weights": self._weights,
            "num_samples": self._num_samples,
        }  # fmt: skip

    def _drawn(self, begin: int, end: int) -> torch.Tensor:
        """Returns the numbers of the datasets at positions."""
        shares = torch.tensor(self._weights, dtype=torch.float64).cumsum(0)
        numbers = hashes(begin, end, self._seed, self._epoch) & ((1 << _FRACTION_BITS) - 1)
        points = numbers.to(torch.float64) * (float(shares[-1]) / 2**_FRACTION_BITS)
        last = max(number for number, weight in enumerate(self._weights) if weight > 0)
        return torch.searchsorted(shares, points, right=True).clamp_(max=last)

    def _indices(self, begin: int) -> Iterator[torch.Tensor]:
        starts = [sum(self._sizes[:number]) for number in range(len(self._sizes))]
        counts = [0] * len(self._sizes)  # items of each dataset before the chunk
        orders: dict[int, tuple[int, torch.Tensor]] = {}  # for each dataset, the latest round and its order
        chunk_begin = 0
        while True:
            drawn = self._drawn(chunk_begin, chunk_begin + _CHUNK)
            wanted = chunk_begin + _CHUNK > begin
            found = torch.empty_like(drawn)
            for number, size in enumerate(self._sizes):
                places = torch.nonzero(drawn == number)[:, 0]
                first = counts[number]
                counts[number] += len(places)
                while wanted and len(places):
                    turn, place = divmod(first, size)
                    if orders.get(number, (-1,))[0] != turn:
                        orders[number] = turn, permutation(size, self._seed, self._epoch, number, turn)
                    taken = min(len(places), size - place)
                    found[places[:taken]] = orders[number][1][place : place + taken] + starts[number]
                    places, first = places[taken:], first + taken
            if wanted:
                yield found[max(0, begin - chunk_begin) :]
            chunk_begin += _CHUNK


class S3ConcatDataset(ConcatDataset[Any]):
    """The items of several map-style datasets of S3 in turn. A batch is fetched concurrently.

    If the datasets have the same region, endpoint, configuration and kind of reader, one client fetches all items of a batch at
    a time. Otherwise the items of each dataset are fetched after those of the previous one.

    Args:
        datasets: Datasets such as :class:`penstock.S3MapDataset`.
    """

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """Returns the items of a batch, in order. DataLoader calls this for each batch."""
        starts = [0, *self.cumulative_sizes]
        places = [(number, index - starts[number]) for number, index in map(self._locate, indices)]
        used = sorted({number for number, _ in places})
        datasets = [self.datasets[number] for number in used]
        found: list[Any] = [None] * len(places)
        if len({self._client_of(dataset) for dataset in datasets}) == 1 and self._client_of(datasets[0]) is not None:
            items = (self.datasets[number]._item(index) for number, index in places)  # type: ignore[attr-defined]
            readers = datasets[0]._prefetch(items)  # type: ignore[attr-defined]
            return [self.datasets[number]._transform(reader) for (number, _), reader in zip(places, readers, strict=True)]  # type: ignore[attr-defined]
        for number, dataset in zip(used, datasets, strict=True):
            own = [at for at, place in enumerate(places) if place[0] == number]
            chosen = [places[at][1] for at in own]
            get = getattr(dataset, "__getitems__", None)
            for at, item in zip(own, get(chosen) if get else [dataset[index] for index in chosen], strict=True):
                found[at] = item
        return found

    def _locate(self, index: int) -> tuple[int, int]:
        count = len(self)
        if not -count <= index < count:
            raise IndexError(f"the index {index} is out of range: the datasets have {count} items")
        index %= count
        number = next(number for number, end in enumerate(self.cumulative_sizes) if index < end)
        return number, index

    def _client_of(self, dataset: Any) -> tuple[Any, ...] | None:
        """Returns what must be equal for one client to read two datasets; None: the dataset reads its items in its own way."""
        if not isinstance(dataset, S3MapDataset) or type(dataset).__getitem__ is not S3MapDataset.__getitem__:
            return None
        kind = S3ReaderConstructor.get_reader_type_string(dataset._reader_constructor)
        return None if kind == "unknown" else (dataset.region, dataset.endpoint, dataset._s3client_config, kind)
