"""The distributions share no code, but accept the same texts for sizes: base/text/quantity_cases.tsv, also read by a C++ test."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import penstock
import pytest
from penstock import _argument_values
from penstock_emulator import _sizes

ROWS = (Path(__file__).parents[3] / "base/text/quantity_cases.tsv").read_text().splitlines()
CASES = [(text.replace("\\t", "\t"), bytes_) for text, _, bytes_ in (row.rpartition("\t") for row in ROWS if row[0] != "#")]


@pytest.mark.parametrize("size", [_argument_values.size, _sizes.size], ids=["penstock", "penstock_emulator"])
def test_both_distributions_accept_the_sizes_of_the_core(size: Callable[[str], int]) -> None:
    assert len(CASES) > 50
    wrong = []
    for text, expected in CASES:
        try:
            found = str(size(text))
        except argparse.ArgumentTypeError:
            found = "-"
        if found != expected:
            wrong.append((text, found, expected))
    assert wrong == []


DURATIONS = {
    "0": 0, "5": 5, "0.25": 0.25, "1e3": 1000, "250ms": 0.25, "5s": 5, "5 S": 5, "1.5m": 90, "2h": 7200, "1w": 604_800,
    "-1": None, "-1s": None, "nan": None, "inf": None, "1e9": None, "": None, "s": None, "5min": None, "5us": None, "1e3s": None,
}  # fmt: skip


@pytest.mark.parametrize("duration", [_argument_values.duration, _sizes.duration], ids=["penstock", "penstock_emulator"])
def test_both_distributions_accept_the_same_durations(duration: Callable[[str], float]) -> None:
    for text, seconds in DURATIONS.items():
        if seconds is None:
            with pytest.raises(argparse.ArgumentTypeError, match=f"invalid duration '{text}'"):
                duration(text)
        else:
            assert duration(text) == seconds, text


def test_arguments_of_the_emulator_accept_the_same_sizes() -> None:
    for text, expected in CASES:
        if expected == "-":
            with pytest.raises(ValueError, match=r'journal_size must be 0 to .* bytes, a number or a text such as "64MiB"'):
                _sizes.size_of("journal_size", text, 2**63)
        else:
            assert _sizes.size_of("journal_size", text, 2**63 - 1) == int(expected)


def test_the_memory_limit_accepts_the_same_sizes() -> None:
    before = penstock.memory_limit()
    try:
        penstock.set_memory_limit("1.5 GiB")
        assert penstock.memory_limit() == 3 << 29
        for text in ("64M", "-64MiB", "1MiB"):
            with pytest.raises(penstock.S3InvalidArgumentError, match=r"memory limit must be 16777216 bytes \(16 MiB\) or more"):
                penstock.set_memory_limit(text)
    finally:
        penstock.set_memory_limit(before)
