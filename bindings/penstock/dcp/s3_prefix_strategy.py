"""Where a rank's objects of a distributed checkpoint go, so that many ranks do not share one partition of S3's key space.

A strategy gives the text between the checkpoint's path and the number of a file: ``{path}/{prefix}{number}.distcp``. S3 carries
a limited request rate below one range of keys; keys whose *first* characters differ are spread over several.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence


class S3PrefixStrategyBase(ABC):
    """The prefix of a rank's objects. Sub-classes say it in :meth:`generate_prefix`; they must pickle for async process saves.

    Source: ``s3torchconnector.dcp.S3PrefixStrategyBase``.
    """

    def __init__(self) -> None:  # noqa: B027  (sub-classes call it, as they do with the reference's)
        pass

    def __call__(self, rank: int) -> str:
        return self.generate_prefix(rank)

    @abstractmethod
    def generate_prefix(self, rank: int) -> str:
        """The prefix of `rank`'s objects, relative to the checkpoint's path. No two ranks may have the same."""


class DefaultPrefixStrategy(S3PrefixStrategyBase):
    """``__{rank}_``, torch's own names: every rank's objects side by side.

    Source: ``s3torchconnector.dcp.DefaultPrefixStrategy``.
    """

    def generate_prefix(self, rank: int) -> str:
        return _rank_name(rank, None)


class NumericPrefixStrategy(S3PrefixStrategyBase):
    """A number for each rank in front, its digits reversed: ``{digits}/[epoch_{epoch_num}/]__{rank}_``.

    Reversed, because neighbouring ranks then differ in the first character, where S3 parts its keys.

    Args:
        base: Of the digits.
        epoch_num: Names a folder between digits and rank; None: none.
        min_prefix_length: Digits at least; more where `prefix_count` numbers need more.
        prefix_count: Different numbers; rank r has number ``r % prefix_count``. None: the world size when this is made, 1
            where torch.distributed is not initialised then.
        min_prefix_len: Another name of `min_prefix_length`.

    Attributes:
        base, epoch_num, min_prefix_len, prefix_count: as given or found.
        prefix_map: The digits of each number, in order.

    Raises:
        ValueError: An argument is out of its range.

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
        """`number` in this base, zeros in front up to `length` digits."""


class _FixedBase(NumericPrefixStrategy):
    """Digits of one base: its number and the letter by which Python formats it."""

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
    """Hexadecimal digits, lower case; arguments as in :class:`NumericPrefixStrategy`.

    Source: ``s3torchconnector.dcp.HexPrefixStrategy``.
    """

    _BASE, _FORMAT = 16, "x"


class RoundRobinPrefixStrategy(S3PrefixStrategyBase):
    """The caller's own prefixes in turn: ``{user_prefixes[rank % n]}/[epoch_{epoch_num}/]__{rank}_``.

    Raises:
        ValueError: There are no prefixes.
    """

    def __init__(self, user_prefixes: Sequence[str], epoch_num: int | None = None) -> None:
        super().__init__()
        if not user_prefixes:
            raise ValueError("user_prefixes must not be empty")
        if isinstance(user_prefixes, str):
            raise ValueError(f"user_prefixes is the text {user_prefixes!r}; it takes a list, such as [{user_prefixes!r}]")
        self.user_prefixes = user_prefixes
        self.epoch_num = epoch_num

    def generate_prefix(self, rank: int) -> str:
        return f"{self.user_prefixes[rank % len(self.user_prefixes)]}/{_rank_name(rank, self.epoch_num)}"


def _rank_name(rank: int, epoch_num: int | None) -> str:
    return f"__{rank}_" if epoch_num is None else f"epoch_{epoch_num}/__{rank}_"


def _digits(count: int, base: int) -> int:
    """How many digits `count` different numbers need."""
    digits, reach = 1, base
    while reach < count:
        digits, reach = digits + 1, reach * base
    return digits


def _world_size() -> int:
    import torch.distributed as dist

    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1
