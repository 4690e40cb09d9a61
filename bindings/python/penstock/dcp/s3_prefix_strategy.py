"""Prefix strategies: distribute the objects of a distributed checkpoint over several partitions of S3's key space.

A strategy returns the text between the checkpoint's path and the number of a file: ``{path}/{prefix}{number}.distcp``. S3 limits
the request rate of each partition, and partitions keys by their *first* characters.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence


class S3PrefixStrategyBase(ABC):
    """Base class of prefix strategies. Subclasses implement :meth:`generate_prefix`; async saves in a process pickle them.

    Source: ``s3torchconnector.dcp.S3PrefixStrategyBase``.
    """

    def __init__(self) -> None:  # noqa: B027  (subclasses call it, as with the reference connector)
        pass

    def __call__(self, rank: int) -> str:
        return self.generate_prefix(rank)

    @abstractmethod
    def generate_prefix(self, rank: int) -> str:
        """Returns the prefix of the objects of `rank`, relative to the checkpoint's path. It must be unique among all ranks."""


class DefaultPrefixStrategy(S3PrefixStrategyBase):
    """``__{rank}_``, as torch names the objects. All ranks share one prefix.

    Source: ``s3torchconnector.dcp.DefaultPrefixStrategy``.
    """

    def generate_prefix(self, rank: int) -> str:
        return _rank_name(rank, None)


class NumericPrefixStrategy(S3PrefixStrategyBase):
    """Prefixes of reversed numbers, one for each rank: ``{digits}/[epoch_{epoch_num}/]__{rank}_``.

    The digits are reversed so that consecutive ranks differ in the first character, by which S3 partitions keys.

    Args:
        base: Base of the number.
        epoch_num: Adds a folder between digits and rank; None: no folder.
        min_prefix_length: Minimum number of digits; there are more if `prefix_count` requires them.
        prefix_count: Number of distinct prefixes; rank r uses number ``r % prefix_count``. None: the world size at construction,
            or 1 if torch.distributed is not initialized.
        min_prefix_len: Alias of `min_prefix_length`.

    Attributes:
        base, epoch_num, min_prefix_len, prefix_count: The effective arguments.
        prefix_map: The reversed digits of each number, in order.

    Raises:
        ValueError: An argument is out of range.

    Source: ``s3torchconnector.dcp.NumericPrefixStrategy``.
    """

    def __init__(
        self,
        base: int,
        epoch_num: int | None = None,
        min_prefix_length: int = 10,
        prefix_count: int | None = None,
        *,
        min_prefix_len: int | None = None,
    ) -> None:
        super().__init__()
        length = min_prefix_length if min_prefix_len is None else min_prefix_len
        if length < 1:
            raise ValueError(f"Minimum prefix length must be positive, got {length}")
        if not isinstance(epoch_num, int | None):
            raise ValueError(f"Epoch number must be None or an integer, got {epoch_num}")
        if prefix_count is None:
            prefix_count = _world_size()
        elif not isinstance(prefix_count, int) or prefix_count < 1:
            raise ValueError(f"Prefix count must be a positive integer, got {prefix_count}")
        self.base = base
        self.epoch_num = epoch_num
        self.min_prefix_len = length
        self.prefix_count = prefix_count
        digits = max(length, _digits(prefix_count, base))
        self.prefix_map = ["".join(reversed(self._format_number(number, digits))) for number in range(prefix_count)]

    def generate_prefix(self, rank: int) -> str:
        return f"{self.prefix_map[rank % len(self.prefix_map)]}/{_rank_name(rank, self.epoch_num)}"

    @abstractmethod
    def _format_number(self, number: int, length: int) -> str:
        """Returns `number` in this base, padded with zeros to `length` digits."""


class _FixedBase(NumericPrefixStrategy):
    """A numeric strategy with a fixed base and the Python format letter of that base."""

    _BASE: int
    _FORMAT: str

    def __init__(
        self,
        epoch_num: int | None = None,
        min_prefix_length: int = 10,
        prefix_count: int | None = None,
        *,
        min_prefix_len: int | None = None,
    ) -> None:
        super().__init__(self._BASE, epoch_num, min_prefix_length, prefix_count, min_prefix_len=min_prefix_len)

    def _format_number(self, number: int, length: int) -> str:
        return f"{number:0{length}{self._FORMAT}}"


class BinaryPrefixStrategy(_FixedBase):
    """Binary digits; arguments as in :class:`NumericPrefixStrategy`.

    Source: ``s3torchconnector.dcp.BinaryPrefixStrategy``.
    """

    _BASE, _FORMAT = 2, "b"


class HexPrefixStrategy(_FixedBase):
    """Lower-case hexadecimal digits; arguments as in :class:`NumericPrefixStrategy`.

    Source: ``s3torchconnector.dcp.HexPrefixStrategy``.
    """

    _BASE, _FORMAT = 16, "x"


class RoundRobinPrefixStrategy(S3PrefixStrategyBase):
    """Assigns the given prefixes in turn: ``{user_prefixes[rank % n]}/[epoch_{epoch_num}/]__{rank}_``.

    Raises:
        ValueError: `user_prefixes` is empty, or a str.
    """

    def __init__(self, user_prefixes: Sequence[str], epoch_num: int | None = None) -> None:
        super().__init__()
        if not user_prefixes:
            raise ValueError("user_prefixes must not be empty")
        if isinstance(user_prefixes, str):
            raise ValueError(f"user_prefixes is the str {user_prefixes!r}; expected a list, for example [{user_prefixes!r}]")
        self.user_prefixes = user_prefixes
        self.epoch_num = epoch_num

    def generate_prefix(self, rank: int) -> str:
        return f"{self.user_prefixes[rank % len(self.user_prefixes)]}/{_rank_name(rank, self.epoch_num)}"


def _rank_name(rank: int, epoch_num: int | None) -> str:
    return f"__{rank}_" if epoch_num is None else f"epoch_{epoch_num}/__{rank}_"


def _digits(count: int, base: int) -> int:
    """Returns the number of digits that `count` distinct numbers need."""
    digits, reach = 1, base
    while reach < count:
        digits, reach = digits + 1, reach * base
    return digits


def _world_size() -> int:
    import torch.distributed as dist

    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1
