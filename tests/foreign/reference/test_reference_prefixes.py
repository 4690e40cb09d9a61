"""Our prefix strategies and the reference wheel's have equal prefixes, attributes and errors."""

from __future__ import annotations

import pytest
import torch.distributed as dist
from hypothesis import given
from hypothesis import strategies as st
from penstock.dcp import s3_prefix_strategy as ours
from s3torchconnector.dcp import s3_prefix_strategy as theirs

arguments = st.fixed_dictionaries(
    {
        "epoch_num": st.none() | st.integers(-3, 3) | st.sampled_from(["1", 1.5]),
        "min_prefix_length": st.integers(-1, 12),
        "prefix_count": st.none() | st.integers(-1, 600) | st.just("4"),
    }
)


def made(strategy: type, kwargs: dict[str, object], ranks: list[int]) -> object:
    """A strategy's prefixes and attributes, or the text of its error."""
    try:
        instance = strategy(**kwargs)
    except ValueError as error:
        return str(error)
    return [instance(rank) for rank in ranks], vars(instance)


@pytest.mark.parametrize("name", ["BinaryPrefixStrategy", "HexPrefixStrategy"])
@given(kwargs=arguments, ranks=st.lists(st.integers(0, 5000), max_size=8), world=st.none() | st.integers(1, 2000))
def test_numeric_prefixes_are_the_same(name, kwargs, ranks, world):
    with pytest.MonkeyPatch.context() as patch:
        if world is not None:
            patch.setattr(dist, "is_initialized", lambda: True)
            patch.setattr(dist, "get_world_size", lambda group=None: world)
        assert made(getattr(ours, name), kwargs, ranks) == made(getattr(theirs, name), kwargs, ranks)


@given(
    kwargs=st.fixed_dictionaries(
        {"user_prefixes": st.lists(st.text(max_size=5), max_size=5), "epoch_num": st.none() | st.integers()}
    ),
    ranks=st.lists(st.integers(0, 5000), max_size=8),
)
def test_round_robin_prefixes_are_the_same(kwargs, ranks):
    assert made(ours.RoundRobinPrefixStrategy, kwargs, ranks) == made(theirs.RoundRobinPrefixStrategy, kwargs, ranks)


@given(ranks=st.lists(st.integers(0, 5000)))
def test_default_prefixes_are_the_same(ranks):
    assert made(ours.DefaultPrefixStrategy, {}, ranks) == made(theirs.DefaultPrefixStrategy, {}, ranks)
