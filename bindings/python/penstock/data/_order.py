"""Orders that depend only on integers such as a seed and an epoch: the same on every machine and with every version of Python."""

from __future__ import annotations

import torch

_MASK = 2**64 - 1
_GAMMA = 0x9E3779B97F4A7C15  # the constants of SplitMix64
_FACTORS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_LAST_SHIFT = 31


def mix(*numbers: int) -> int:
    """Returns a 64-bit hash of a sequence of integers."""
    state = 0
    for number in numbers:
        state = ((state ^ number) + _GAMMA) & _MASK
        for shift, factor in _FACTORS:
            state = (state ^ (state >> shift)) * factor & _MASK
        state ^= state >> _LAST_SHIFT
    return state


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


def _shifted(values: torch.Tensor, shift: int) -> torch.Tensor:
    return (values >> shift) & ((1 << (64 - shift)) - 1)


def hashes(begin: int, end: int, *key: int) -> torch.Tensor:
    """Returns a 64-bit hash of each number of [begin, end) as int64, different for every `key`."""
    values = torch.arange(begin, end, dtype=torch.int64) * _signed(_GAMMA) + _signed(mix(*key))
    for shift, factor in _FACTORS:
        values = (values ^ _shifted(values, shift)) * _signed(factor)
    return values ^ _shifted(values, _LAST_SHIFT)


def permutation(count: int, *key: int) -> torch.Tensor:
    """Returns the numbers of [0, count) in an order that `key` determines, as int64. Needs about 32 bytes per number."""
    return torch.argsort(hashes(0, count, *key), stable=True)
