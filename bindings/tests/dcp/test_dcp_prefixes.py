"""Prefix strategies: prefixes, attributes and errors equal those of the reference connector."""

from __future__ import annotations

import pickle

import pytest
import torch.distributed as dist
from penstock import dcp
from penstock.dcp import (
    BinaryPrefixStrategy,
    DefaultPrefixStrategy,
    HexPrefixStrategy,
    NumericPrefixStrategy,
    RoundRobinPrefixStrategy,
)


@pytest.fixture
def set_world_size(monkeypatch):
    """Simulates torch.distributed with a given world size."""

    def of(size: int) -> None:
        monkeypatch.setattr(dist, "is_initialized", lambda: True)
        monkeypatch.setattr(dist, "get_world_size", lambda group=None: size)

    return of


def test_every_strategy_is_exported():
    assert {
        "S3PrefixStrategyBase", "DefaultPrefixStrategy", "NumericPrefixStrategy", "BinaryPrefixStrategy", "HexPrefixStrategy",
        "RoundRobinPrefixStrategy",
    } <= set(dcp.__all__)  # fmt: skip
    assert all(hasattr(dcp, name) for name in dcp.__all__)


def test_default_prefix_is_the_rank():
    assert [DefaultPrefixStrategy()(rank) for rank in (0, 7, 255)] == ["__0_", "__7_", "__255_"]


def test_hex_prefixes_of_16_ranks(set_world_size):
    set_world_size(16)
    strategy = HexPrefixStrategy()
    assert strategy(10) == "a000000000/__10_"
    assert strategy(255) == "f000000000/__255_"
    assert HexPrefixStrategy(epoch_num=5)(10) == "a000000000/epoch_5/__10_"
    assert (strategy.base, strategy.epoch_num, strategy.min_prefix_len, strategy.prefix_count) == (16, None, 10, 16)


def test_hex_prefixes_wrap_around_beyond_the_world_size(set_world_size):
    set_world_size(257)
    strategy = HexPrefixStrategy()
    assert [strategy(256), strategy(257), strategy(100)] == ["0010000000/__256_", "0000000000/__257_", "4600000000/__100_"]
    assert len(strategy.prefix_map) == 257
    set_world_size(2)
    assert HexPrefixStrategy()(1) == "1000000000/__1_"


def test_number_of_digits_grows_with_the_prefix_count():
    assert len(BinaryPrefixStrategy(prefix_count=1025).prefix_map[0]) == 11
    assert BinaryPrefixStrategy(min_prefix_length=1, prefix_count=2).prefix_map == ["0", "1"]
    assert HexPrefixStrategy(min_prefix_length=1, prefix_count=17).prefix_map[-1] == "01"
    assert BinaryPrefixStrategy(min_prefix_length=1, prefix_count=1).prefix_map == ["0"]


def test_binary(set_world_size):
    assert BinaryPrefixStrategy()(1) == "0000000000/__1_"
    set_world_size(4)
    assert BinaryPrefixStrategy().prefix_map == ["0000000000", "1000000000", "0100000000", "1100000000"]
    four = BinaryPrefixStrategy(4, 4, 4)
    assert [four(rank) for rank in range(4)] == [
        f"{digits}/epoch_4/__{i}_" for i, digits in enumerate(["0000", "1000", "0100", "1100"])
    ]


def test_min_prefix_len_is_an_alias():
    assert HexPrefixStrategy(min_prefix_len=4).prefix_map == HexPrefixStrategy(min_prefix_length=4).prefix_map == ["0000"]
    assert BinaryPrefixStrategy(min_prefix_len=3).min_prefix_len == 3


def test_round_robin():
    strategy = RoundRobinPrefixStrategy(["p1", "p2", "p3"])
    assert [strategy(rank) for rank in (0, 3, 4)] == ["p1/__0_", "p1/__3_", "p2/__4_"]
    assert RoundRobinPrefixStrategy(["p"], epoch_num=0)(1) == "p/epoch_0/__1_"


def test_custom_digits_and_custom_strategy():
    class Octal(NumericPrefixStrategy):
        def _format_number(self, number: int, length: int) -> str:
            return f"{number:0{length}o}"

    class Folder(dcp.S3PrefixStrategyBase):
        def generate_prefix(self, rank: int) -> str:
            return f"custom_x/{rank}/"

    assert Octal(8, min_prefix_length=3, prefix_count=9)(8) == "010/__8_"
    assert Folder()(3) == "custom_x/3/"
    with pytest.raises(TypeError):
        dcp.S3PrefixStrategyBase()
    with pytest.raises(TypeError):
        NumericPrefixStrategy(2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_prefix_length": 0}, "Minimum prefix length must be positive, got 0"),
        ({"min_prefix_len": -1}, "Minimum prefix length must be positive, got -1"),
        ({"epoch_num": "5"}, "Epoch number must be None or an integer, got 5"),
        ({"epoch_num": 1.5}, "Epoch number must be None or an integer, got 1.5"),
        ({"prefix_count": 0}, "Prefix count must be a positive integer, got 0"),
        ({"prefix_count": "4"}, "Prefix count must be a positive integer, got 4"),
    ],
)
@pytest.mark.parametrize("strategy", [BinaryPrefixStrategy, HexPrefixStrategy])
def test_invalid_arguments_raise(strategy, arguments, message):
    with pytest.raises(ValueError, match="^" + message + "$"):
        strategy(**arguments)


def test_empty_user_prefixes_and_a_str_raise():
    with pytest.raises(ValueError, match=r"^user_prefixes must not be empty$"):
        RoundRobinPrefixStrategy([])
    with pytest.raises(ValueError, match=r"expected a list, for example \['prefix'\]"):
        RoundRobinPrefixStrategy("prefix")


@pytest.mark.parametrize(
    "strategy",
    [DefaultPrefixStrategy(), HexPrefixStrategy(3, 4, 5), BinaryPrefixStrategy(), RoundRobinPrefixStrategy(["a", "b"], 1)],
)
def test_strategies_pickle(strategy):
    assert [pickle.loads(pickle.dumps(strategy))(rank) for rank in range(7)] == [strategy(rank) for rank in range(7)]
