"""Tensors on their way to an upload: on the CPU, dense, and copied from a device while earlier ones are being sent."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import torch
from torch.distributed.checkpoint.planner import SavePlanner, WriteItem

from ._archive import is_plain
from ._boxes import is_one_run


class Staged(NamedTuple):
    """A tensor as it is written. `fresh`: its memory was made for this, and may go once it has been sent."""

    item: WriteItem
    tensor: torch.Tensor
    fresh: bool


def staged(items: Iterable[WriteItem], planner: SavePlanner, copy_ahead_bytes: int) -> Iterator[Staged]:
    """The items' tensors on the CPU, in order; of those on a device up to `copy_ahead_bytes` (at least one) are copied ahead."""
    ahead: deque[tuple[Staged, Any, int]] = deque()
    ahead_bytes = 0
    copier = _Copier()
    for item in items:
        data = planner.resolve_data(item)
        if not isinstance(data, torch.Tensor):
            raise TypeError(f"the planner gave a {type(data).__name__} for {item.index.fqn}; it takes torch.Tensor")
        tensor = data.detach()
        if tensor.device.type == "cpu" and not ahead:
            yield dense(item, tensor)
            continue
        entry = copier.start(item, tensor)
        ahead.append((*entry, tensor.nbytes))
        ahead_bytes += tensor.nbytes
        while ahead and ahead_bytes > copy_ahead_bytes:
            done, event, size = ahead.popleft()
            ahead_bytes -= size
            yield _arrived(done, event)
    for done, event, _ in ahead:
        yield _arrived(done, event)


def _arrived(entry: Staged, event: Any) -> Staged:
    if event is not None:
        event.synchronize()
    return dense(entry.item, entry.tensor, entry.fresh)


def dense(item: WriteItem, tensor: torch.Tensor, fresh: bool = False) -> Staged:
    """As it is where its bytes are one run of memory, else a copy that keeps the order of its dimensions."""
    if tensor.layout is not torch.strided:
        return Staged(item, tensor, fresh)
    stored = tensor.untyped_storage().nbytes()
    # torch.save, which writes what is not plain, writes the whole storage of a view.
    if tensor.is_contiguous() and (stored <= tensor.nbytes or is_plain(tensor)):
        return Staged(item, tensor, fresh)
    # Equal sizes alone do not tell: an expanded tensor may be as large as its storage and have one element of it.
    if stored == tensor.nbytes and is_one_run(tensor.shape, tensor.stride()):
        return Staged(item, tensor, fresh)
    return Staged(item, tensor.clone(), True)


class _Copier:
    """Copies from devices on a stream of its own, so that computing and uploading go on meanwhile."""

    def __init__(self) -> None:
        self._streams: dict[torch.device, Any] = {}

    def start(self, item: WriteItem, tensor: torch.Tensor) -> tuple[Staged, Any]:
        """The tensor that will be there once the event has happened; no event: it is."""
        if tensor.device.type == "cpu":
            return Staged(item, tensor, False), None
        try:
            module = torch.get_device_module(tensor.device)
            stream = self._streams.get(tensor.device)
            if stream is None:
                stream = self._streams[tensor.device] = module.Stream(tensor.device)
                stream.wait_stream(module.current_stream(tensor.device))
        except (AttributeError, RuntimeError):  # a device without streams
            return Staged(item, tensor.cpu(), True), None
        with module.stream(stream):
            host = tensor.to("cpu", non_blocking=True)
            event = module.Event()
            event.record(stream)
        tensor.record_stream(stream)  # its memory is not given to others before the copy is done
        return Staged(item, host, True), event
