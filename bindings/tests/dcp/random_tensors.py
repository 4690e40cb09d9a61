"""Tensors of any kind from a generator, boxes that make them up, and others like them to load into."""

from __future__ import annotations

import itertools
import math
import random

import torch

_NAMES = (
    *("float32", "float64", "float16", "bfloat16", "int8", "uint8", "int16", "int32", "int64", "bool"),
    *("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"),
    *("uint16", "uint32", "uint64", "complex32", "complex64", "complex128"),
)
DTYPES = tuple(getattr(torch, name) for name in _NAMES if hasattr(torch, name))
Boxes = list[tuple[list[int], torch.Tensor]]  # each: where it begins in the whole, and its content


def random_elements(generator: random.Random, dtype: torch.dtype, sizes: list[int]) -> torch.Tensor:
    """Of random bits, so that there are NaNs with a payload and numbers that are not normal."""
    values = torch.frombuffer(bytearray(generator.randbytes(math.prod(sizes) * dtype.itemsize + 1)), dtype=torch.uint8)[:-1]
    if dtype == torch.bool:
        values = values & 1
    return values.clone().view(dtype).reshape(sizes)


def random_sizes(generator: random.Random, most: int) -> list[int]:
    if generator.random() < 0.2:
        return [generator.randrange(most)]
    return [generator.choice((0, 1, 2, 3, 7, 16, 33)) for _ in range(generator.randrange(5))]


def random_tensor(generator: random.Random, most: int) -> torch.Tensor:
    """Of any type and up to four dimensions: also views, strided, transposed and expanded ones, scalars, those without elements.

    Args:
        most: Elements of one with a single dimension.
    """
    tensor = random_elements(generator, generator.choice(DTYPES), random_sizes(generator, most))
    return differently_laid(generator, tensor)


def differently_laid(generator: random.Random, tensor: torch.Tensor) -> torch.Tensor:
    """Sometimes another tensor with its elements: a view of it, or of memory that it shares."""
    shape = generator.random()
    if shape < 0.15 and tensor.dim() > 1:
        return tensor.transpose(0, tensor.dim() - 1)
    if shape < 0.25 and tensor.dim() and tensor.size(0) > 2:
        return tensor[1:-1]
    if shape < 0.35 and tensor.dim() == 4:
        return tensor.to(memory_format=torch.channels_last)
    if shape < 0.45 and tensor.dim() and tensor.size(-1) > 2:
        return tensor[..., ::2]
    if shape < 0.5 and tensor.dim() < 4:
        return tensor.expand(3, *tensor.size())
    if shape < 0.55 and tensor.dim() and tensor.size(-1) > 3:
        return tensor.unfold(-1, 3, 1)  # its windows overlap
    if shape < 0.6 and tensor.is_complex() and tensor.dtype != torch.complex32:
        return tensor.conj()
    return tensor


def random_cuts(generator: random.Random, tensor: torch.Tensor, ranks: int) -> list[Boxes]:
    """Boxes that make up the tensor, spread over the ranks: cut along one dimension or two."""
    boxes: Boxes = [([0] * tensor.dim(), tensor)]
    for _ in range(generator.choice((1, 1, 2))):
        dim = generator.randrange(tensor.dim())
        size = tensor.size(dim)
        cuts = sorted({0, size, *(generator.randrange(1, size) for _ in range(generator.randrange(ranks + 1)) if size > 1)})
        boxes = [
            ([offset + start * (d == dim) for d, offset in enumerate(offsets)], part.narrow(dim, start, end - start))
            for offsets, part in boxes
            for start, end in itertools.pairwise(cuts)
            if part.size(dim) == size
        ] or boxes
    spread: list[Boxes] = [[] for _ in range(ranks)]
    for box in boxes:
        generator.choice(spread).append(box)
    return spread


def empty_like(generator: random.Random, tensor: torch.Tensor) -> torch.Tensor:
    """Of its size and type; sometimes with other strides."""
    kind = generator.random()
    if kind < 0.2 and tensor.dim() > 1:
        return torch.zeros(tensor.transpose(0, -1).size(), dtype=tensor.dtype).transpose(0, -1)
    if kind < 0.3 and tensor.dim():
        room = torch.zeros((*tensor.size()[:-1], tensor.size(-1) + 5), dtype=tensor.dtype)
        return room[..., 2 : 2 + tensor.size(-1)]
    return torch.zeros(tensor.size(), dtype=tensor.dtype)


def part_of(tensor: torch.Tensor, offsets: list[int], sizes: list[int]) -> torch.Tensor:
    for dim, (offset, size) in enumerate(zip(offsets, sizes, strict=True)):
        tensor = tensor.narrow(dim, offset, size)
    return tensor
