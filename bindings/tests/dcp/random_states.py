"""A state dict of many ranks that follows from a seed, and the same to be loaded by other ranks, otherwise placed.

A state is nested dicts and lists of leaves. Every rank works out all of it and takes its own part.
"""

from __future__ import annotations

import dataclasses
import enum
import itertools
import math
import random
import struct
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import torch
from checkpoints import Sharded, same_bits
from random_tensors import DTYPES, Boxes, part_of, random_cuts, random_elements, random_tensor

PART_BYTES = 5 * 1024**2  # of an upload, at least
FOREIGN = 0xA5  # the content of a target before the load, and of its surroundings before and after it


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Progress:
    """What a training loop keeps and DCP pickles."""

    step: int
    losses: list[float]
    note: str | None = None


# ---- leaves


@dataclasses.dataclass
class Leaf:
    """One value of a state, whole.

    Attributes:
        kind: "object", "quantised", "tensor".
        cuttable: A tensor that ranks may have in parts.
        owner: The one rank that saves it; None: all.
        in_list: Ranks cannot do without it.
    """

    kind: str
    value: Any
    cuttable: bool = False
    owner: int | None = None
    in_list: bool = False


def _random_object(generator: random.Random) -> Any:
    number = generator.randrange(1 << 40)
    kinds: list[Callable[[], Any]] = [
        lambda: number,
        lambda: -(1 << 70) + number,
        lambda: struct.unpack("<d", generator.randbytes(8))[0],
        lambda: f"naïve ☃ {number}",
        lambda: None,
        lambda: generator.randbytes(generator.choice((0, 1, 5000))),
        lambda: bool(number & 1),
        lambda: complex(number, -1),
        lambda: (number, "a", None),
        lambda: [number, ["b", []]],
        lambda: {1, 2, number},
        lambda: Progress(number, [0.5, float("inf")], generator.choice((None, "x"))),
        lambda: Colour.RED,
        lambda: torch.Size([3, number]),
        lambda: torch.bfloat16,
        lambda: (torch.arange(3), Progress(1, [])),  # torch pickles a tuple with all that is in it
        lambda: range(3, number),
    ]
    return generator.choice(kinds)()


def _random_quantised(generator: random.Random) -> torch.Tensor:
    sizes = [generator.choice((1, 2, 3, 7, 16)) for _ in range(generator.randrange(1, 4))]
    values = torch.tensor([generator.uniform(-9, 9) for _ in range(math.prod(sizes))]).reshape(sizes)
    dtype = generator.choice((torch.qint8, torch.quint8, torch.qint32))
    if generator.random() < 0.5:
        tensor = torch.quantize_per_tensor(values, generator.uniform(0.01, 3), generator.randrange(5), dtype)
        if generator.random() < 0.3:
            tensor = tensor.transpose(0, tensor.dim() - 1)
        elif generator.random() < 0.4:
            tensor = tensor[: 1 + tensor.size(0) // 2]
        return tensor
    axis = generator.randrange(len(sizes))
    scales = torch.tensor([generator.uniform(0.01, 3) for _ in range(sizes[axis])], dtype=torch.float64)
    points = torch.tensor([generator.randrange(5) for _ in range(sizes[axis])])
    return torch.quantize_per_channel(values, scales, points, axis, dtype)


def _random_leaf(generator: random.Random, ranks: int, *, large: bool, stageable: bool) -> Leaf:
    kind = generator.random()
    if kind < 0.25:
        value = _random_object(generator)
        return Leaf("object", tuple(value) if stageable and isinstance(value, torch.Size) else value)
    if kind < 0.35 and not stageable:
        return Leaf("quantised", _random_quantised(generator))
    if large and kind < 0.42:  # goes out in parts
        return Leaf("tensor", random_elements(generator, torch.bfloat16, [generator.randrange(3_000_000, 6_000_000)]), True)
    if kind < 0.65:
        sizes = [generator.choice((1, 2, 5, 8, 24)) for _ in range(generator.randrange(1, 4))]
        return Leaf("tensor", random_elements(generator, generator.choice(DTYPES), sizes), True)
    tensor = random_tensor(generator, 20_000)
    if kind < 0.8:
        return Leaf("tensor", tensor, owner=generator.randrange(ranks))
    return Leaf("tensor", tensor, cuttable=tensor.numel() > 1 and not tensor.is_conj() and generator.random() < 0.3)


# ---- states


Mesh = tuple[int, ...]
MISSING = object()


@dataclasses.dataclass(frozen=True)
class Placed:
    """How ranks hold a tensor: "plain", "dtensor" (with placements), "shards" (of a ShardedTensor) or "boxes"."""

    how: str
    placements: tuple[Any, ...] = ()
    boxes: tuple[Boxes, ...] = ()


def random_mesh(generator: random.Random, ranks: int) -> Mesh:
    return (2, 2) if ranks == 4 and generator.random() < 0.5 else (ranks,)


def _random_placement(generator: random.Random, leaf: Leaf, ranks: int, mesh: Mesh) -> Placed:
    value = leaf.value
    how = generator.choice(("plain", "dtensor", "dtensor", "dtensor", "shards", "boxes")) if leaf.cuttable else "plain"
    if how == "shards" and -(-value.size(0) // ranks) * (ranks - 1) >= value.size(0):
        how = "dtensor"  # torch's planner takes a ShardedTensor only where a rank has some of it
    if how == "dtensor":
        from torch.distributed.tensor import Replicate, Shard

        choices = [Replicate(), *(Shard(dim) for dim in range(value.dim()))]
        return Placed(how, tuple(generator.choice(choices) for _ in mesh))
    if how == "boxes":
        return Placed(how, boxes=tuple(random_cuts(generator, value, ranks)))
    return Placed(how)


class RandomState:
    """All of it: `build` gives what one rank holds.

    Args:
        seed: Decides everything.
        ranks: That save.
        large: With tensors of several parts of an upload.
        stageable: Only of what torch can copy before a save in the background: its stager raises on quantised tensors, on
            ShardedTensors and on DTensors in the midst of other memory, and makes a tuple of a Size.
    """

    def __init__(self, seed: int, ranks: int, *, large: bool = False, stageable: bool = False) -> None:
        self._generator = random.Random(f"state {seed}")
        self._ranks = ranks
        self._large = large
        self.stageable = stageable
        self._names = itertools.count()
        self._tree = self._random_dict(3)

    def _random_dict(self, depth: int) -> dict[Any, Any]:
        generator = self._generator
        node: Any = OrderedDict() if generator.random() < 0.3 else {}
        for _ in range(generator.randrange(4, 10)):
            name = f"{generator.choice(('w', 'layer', 'ж', 'with space', 'a/b'))}{next(self._names)}"
            node[name] = self._random_node(depth)
        return node

    def _random_node(self, depth: int) -> Any:
        kind = self._generator.random()
        if depth == 0 or kind < 0.7:
            return _random_leaf(self._generator, self._ranks, large=self._large, stageable=self.stageable)
        if kind < 0.9:
            return self._random_dict(depth - 1)
        leaves = [
            _random_leaf(self._generator, self._ranks, large=False, stageable=self.stageable)
            for _ in range(self._generator.randrange(1, 5))
        ]
        for leaf in leaves:
            leaf.owner, leaf.in_list = None, True  # a list is as long in every rank
        return leaves

    def leaves(self) -> Iterator[Leaf]:
        return (leaf for _, leaf, _ in self.beside(self.build(lambda number, leaf: None)))

    def beside(self, state: Any) -> Iterator[tuple[int, Leaf, Any]]:
        """The leaves, and what a state of the same shape has in their places: MISSING, where it lacks it."""
        numbers = itertools.count()

        def walk(node: Any, value: Any) -> Iterator[tuple[int, Leaf, Any]]:
            if isinstance(node, Leaf):
                yield next(numbers), node, value
            elif isinstance(node, list):
                assert isinstance(value, list)
                for each, its in zip(node, value, strict=True):
                    yield from walk(each, its)
            else:
                assert type(value) is type(node)
                assert value.keys() <= node.keys()
                for name, each in node.items():
                    yield from walk(each, value.get(name, MISSING))

        return walk(self._tree, state)

    def placements(self, seed: object, ranks: int, mesh: Mesh) -> list[Placed]:
        """Of each leaf, in order."""
        generator = random.Random(f"placements {seed}")
        return [_random_placement(generator, leaf, ranks, mesh) for leaf in self.leaves()]

    def build(self, make: Callable[[int, Leaf], Any]) -> dict[str, Any]:
        """The tree with what `make(number, leaf)` gives in place of each leaf; MISSING leaves it out of a dict."""
        numbers = itertools.count()

        def walk(node: Any) -> Any:
            if isinstance(node, Leaf):
                return make(next(numbers), node)
            if isinstance(node, list):
                return [walk(each) for each in node]
            built = type(node)()
            for name, each in node.items():
                value = walk(each)
                if value is not MISSING:
                    built[name] = value
            return built

        return walk(self._tree)


# ---- a rank's part of a tensor


class Ranks:
    """The process group that this process is in, as a mesh."""

    def __init__(self, rank: int, ranks: int, mesh: Mesh) -> None:
        from torch.distributed.device_mesh import init_device_mesh

        self.rank = rank
        self.ranks = ranks
        self.mesh = init_device_mesh("cpu", mesh)

    def parts(self, whole: torch.Tensor, placed: Placed) -> Boxes:
        """What this rank has of a tensor."""
        if placed.how == "plain":
            return [([0] * whole.dim(), whole)]
        if placed.how == "boxes":
            return placed.boxes[self.rank]
        if placed.how == "shards":
            step = -(-whole.size(0) // self.ranks)
            begin = min(step * self.rank, whole.size(0))
            part = whole[begin : begin + step]
            return [([begin, *[0] * (whole.dim() - 1)], part)] if part.size(0) else []
        from torch.distributed.tensor._utils import compute_local_shape_and_global_offset

        sizes, offsets = compute_local_shape_and_global_offset(whole.shape, self.mesh, placed.placements)
        if not math.prod(sizes):
            return [(list(offsets), whole.new_empty(sizes))]
        return [(list(offsets), part_of(whole, list(offsets), list(sizes)))]

    def together(self, whole: torch.Tensor, placed: Placed, parts: list[torch.Tensor]) -> Any:
        """The tensor of which this rank has `parts`, as `parts()` has them of the whole."""
        if placed.how == "plain":
            return parts[0]
        offsets = [offset for offset, _ in self.parts(whole, placed)]
        if placed.how == "boxes":
            return Sharded.of(whole.size(), whole.dtype, list(zip(offsets, parts, strict=True)))
        if placed.how == "shards":
            from torch.distributed._shard.sharded_tensor import Shard as LocalShard
            from torch.distributed._shard.sharded_tensor import init_from_local_shards

            shards = [
                LocalShard.from_tensor_and_offsets(part, offset, self.rank) for offset, part in zip(offsets, parts, strict=True)
            ]
            return init_from_local_shards(shards, *whole.size())
        from torch.distributed.tensor import DTensor

        stride = torch.empty(whole.size(), device="meta").stride()
        return DTensor.from_local(parts[0], self.mesh, placed.placements, run_check=False, shape=whole.size(), stride=stride)


def saved_leaf(generator: random.Random, ranks: Ranks, leaf: Leaf, placed: Placed, *, stageable: bool) -> Any:
    """What a rank has of a leaf when it saves. `stageable`: as in :class:`RandomState`."""
    if leaf.kind != "tensor":
        return leaf.value
    if leaf.owner is not None and leaf.owner != ranks.rank:
        return MISSING
    parts = [part if leaf.owner is None else leaf.value for _, part in ranks.parts(leaf.value, placed)]
    if placed.how == "shards" or (stageable and placed.how == "dtensor"):
        parts = [part.contiguous().clone() for part in parts]
    elif placed.how == "dtensor" and parts[0].numel() and generator.random() < 0.5:
        # In memory of another order, or in the middle of some.
        room = torch.empty((*parts[0].size()[:-1], parts[0].size(-1) + 3), dtype=parts[0].dtype)
        room[..., 1:-2] = parts[0]
        parts = [room[..., 1:-2]]
    return ranks.together(leaf.value, placed, parts)


class Target:
    """A tensor to load into, with foreign bytes in it and around it. That of a ShardedTensor has to be contiguous."""

    def __init__(self, generator: random.Random, like: torch.Tensor, *, contiguous: bool) -> None:
        self.whole: torch.Tensor | None = None
        kind = generator.uniform(0.5 if contiguous else 0, 1)
        sizes = list(like.size())
        if kind < 0.25 and like.dim() > 1:
            self.tensor = self._foreign([sizes[-1], *sizes[1:-1], sizes[0]], like.dtype).transpose(0, -1)
        elif kind < 0.5 and like.dim():
            self.whole = self._foreign([*sizes[:-1], sizes[-1] + 5], like.dtype)
            self.tensor = self.whole[..., 2:-3]
        elif kind < 0.7:
            self.whole = self._foreign([math.prod(sizes) + 7], like.dtype)
            self.tensor = self.whole[3:-4].view(sizes)
        else:
            self.tensor = self._foreign(sizes, like.dtype)

    @staticmethod
    def _foreign(sizes: list[int], dtype: torch.dtype) -> torch.Tensor:
        data = torch.full((math.prod(sizes) * dtype.itemsize,), 1 if dtype == torch.bool else FOREIGN, dtype=torch.uint8)
        return data.view(dtype).reshape(sizes)

    def surroundings_are_foreign(self) -> bool:
        if self.whole is None or self.whole.numel() == 0:
            return True
        mine = self.tensor.contiguous()
        self.tensor.copy_(self._foreign(list(mine.size()), mine.dtype))
        untouched = same_bits(self.whole, self._foreign(list(self.whole.size()), self.whole.dtype))
        self.tensor.copy_(mine)
        return untouched


def quantised_target(leaf: torch.Tensor, *, same: bool) -> torch.Tensor:
    """With the quantiser of the leaf, or another one, that a load has to replace."""
    if leaf.qscheme() == torch.per_tensor_affine:
        scale, point = (leaf.q_scale(), leaf.q_zero_point()) if same else (77.0, 1)
        made = torch._empty_affine_quantized(tuple(leaf.size()), scale=scale, zero_point=point, dtype=leaf.dtype)
    else:
        scales, points = leaf.q_per_channel_scales(), leaf.q_per_channel_zero_points()
        if not same:
            scales, points = scales + 1, points + 1
        made = torch._empty_per_channel_affine_quantized(
            tuple(leaf.size()), scales=scales, zero_points=points, axis=leaf.q_per_channel_axis(), dtype=leaf.dtype
        )
    made.untyped_storage().fill_(FOREIGN)
    return made


def same_quantised(one: torch.Tensor, other: torch.Tensor) -> bool:
    if (one.dtype, one.size(), one.qscheme()) != (other.dtype, other.size(), other.qscheme()):
        return False
    if not torch.equal(one.int_repr(), other.int_repr()):
        return False
    if one.qscheme() == torch.per_tensor_affine:
        return (one.q_scale(), one.q_zero_point()) == (other.q_scale(), other.q_zero_point())
    return (
        one.q_per_channel_axis() == other.q_per_channel_axis()
        and torch.equal(one.q_per_channel_scales(), other.q_per_channel_scales())
        and torch.equal(one.q_per_channel_zero_points(), other.q_per_channel_zero_points())
    )


def same_object(one: Any, other: Any) -> bool:
    """Also of a NaN, bit by bit, and of tensors inside."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return struct.pack("<d", one) == struct.pack("<d", other)
    if isinstance(one, torch.Tensor):
        return same_bits(one, other)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same_object, one, other))
    return bool(one == other)
