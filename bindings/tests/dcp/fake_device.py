"""A simulated device with streams: tensors on the meta device whose values are kept on the CPU.

Work on a stream runs as late as the order between streams allows: when a stream or an event is synchronized. A copy that does
not wait for the work that produces a tensor copies the old values.
"""

from __future__ import annotations

import functools
import threading
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from penstock.dcp import _devices

STALE = 119  # the value of each byte that is not computed yet, or whose memory belongs to another tensor by now


class Event:
    def __init__(self) -> None:
        self.happened = True
        self._stream: Stream | None = None

    def record(self, stream: Stream) -> None:
        self.happened = False
        self._stream = stream
        stream.launch(self._happen)

    def _happen(self) -> None:
        self.happened = True

    def synchronize(self) -> None:
        while not self.happened:
            assert self._stream is not None
            self._stream.run_one()


class Stream:
    def __init__(self, device: Any = None) -> None:
        self._work: deque[Callable[[], None]] = deque()
        self._running = threading.Lock()

    def launch(self, work: Callable[[], None]) -> None:
        self._work.append(work)

    def wait_event(self, event: Event) -> None:
        self.launch(event.synchronize)

    def wait_stream(self, stream: Stream) -> None:
        event = Event()
        event.record(stream)
        self.wait_event(event)

    def run_one(self) -> None:
        with self._running:
            if self._work:
                self._work.popleft()()

    def synchronize(self) -> None:
        while self._work:
            self.run_one()


class Device:
    """The simulated device and its torch module.

    Attributes:
        in_flight: The number of copies to the CPU that were launched and have not run.
        synchronous: The number of copies to the CPU that blocked the calling thread.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.in_flight = 0
        self.synchronous = 0
        self._values: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}  # by storage: a tensor that owns it, and its values
        self._recorded: set[int] = set()
        self._default = Stream()
        self._of_thread = threading.local()
        self._copy, self._cpu = torch.Tensor.copy_, torch.Tensor.cpu
        methods = {"copy_": self._copy_into, "cpu": self._to_cpu, "record_stream": self._record_stream}
        for name, method in methods.items():
            monkeypatch.setattr(torch.Tensor, name, functools.partialmethod(_call, method))
        module = types.SimpleNamespace(
            Stream=Stream, Event=Event, stream=self.stream, current_stream=self.current_stream, set_stream=self.set_stream,
            is_initialized=lambda: True, device_count=lambda: 1, current_device=lambda: 0,
        )  # fmt: skip
        monkeypatch.setattr(torch, "meta", module, raising=False)
        monkeypatch.setattr(_devices, "STREAM_DEVICES", ("meta",))

    # ---- streams: each thread has a current one, as in torch

    def new_stream(self) -> Stream:
        return Stream()

    def current_stream(self, device: Any = None) -> Stream:
        return getattr(self._of_thread, "stream", self._default)

    def set_stream(self, stream: Stream) -> None:
        self._of_thread.stream = stream

    @contextmanager
    def stream(self, stream: Stream) -> Iterator[None]:
        before = self.current_stream()
        self.set_stream(stream)
        try:
            yield
        finally:
            self.set_stream(before)

    # ---- tensors

    def put(self, values: torch.Tensor) -> torch.Tensor:
        """A tensor of the device with these values and strides."""
        tensor = torch.empty_strided(values.size(), values.stride(), dtype=values.dtype, device="meta")
        kept = torch.empty_strided(values.size(), values.stride(), dtype=values.dtype)
        self._copy(kept, values)
        self._values[_storage(tensor)] = tensor, kept
        return tensor

    def put_whole(self, values: torch.Tensor) -> torch.Tensor:
        """As `put`, for a sparse or quantised tensor, which is copied as a whole."""
        quantised = values.is_quantized
        tensor = torch.empty(values.size(), dtype=values.dtype, device="meta") if quantised else values.to("meta")
        self._values[_storage(tensor)] = tensor, values
        return tensor

    def launch(self, function: Callable[[torch.Tensor], torch.Tensor], tensor: torch.Tensor) -> torch.Tensor:
        """Launches `function` of a tensor on the current stream. Returns its result, which is stale until then."""
        values = self.values(tensor)
        result = function(values)  # for its type and shape
        made = self.put(result)
        kept = self._values[_storage(made)][1]
        kept.untyped_storage().fill_(STALE)
        self.current_stream().launch(lambda: self._copy(kept, function(values)))
        return made

    def values(self, tensor: torch.Tensor) -> torch.Tensor:
        """The values of a tensor after the work that has run."""
        _, kept = self._values[_storage(tensor)]
        if kept.layout is not torch.strided or kept.is_quantized:
            return kept
        return kept.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())

    # ---- methods of torch.Tensor

    def _copy_into(self, target: torch.Tensor, source: Any, non_blocking: bool = False) -> torch.Tensor:
        if source.device.type != "meta" or target.device.type == "meta":
            return self._copy(target, source, non_blocking)
        values, held, storage = self.values(source), weakref.ref(source), _storage(source)
        self.in_flight += 1

        def copy() -> None:
            self.in_flight -= 1
            if held() is None and storage not in self._recorded:  # its memory may belong to another tensor
                target.untyped_storage().fill_(STALE)
            else:
                self._copy(target, values)

        self.current_stream().launch(copy)
        if not non_blocking:
            self.synchronous += 1
            self.current_stream().synchronize()
        return target

    def _to_cpu(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device.type != "meta":
            return self._cpu(tensor)
        self.synchronous += 1
        self.current_stream().synchronize()
        return self.values(tensor).clone()

    def _record_stream(self, tensor: torch.Tensor, stream: Stream) -> None:
        if tensor.layout is not torch.strided or tensor.is_quantized or type(tensor) is not torch.Tensor:
            raise NotImplementedError("Could not run 'aten::record_stream'")  # as for sparse and quantised tensors
        self._recorded.add(_storage(tensor))


class Cuda:
    """A GPU, with the methods of `Device` that tests of both devices use."""

    in_flight = 0

    def __init__(self) -> None:
        self.new_stream = torch.cuda.Stream
        self.current_stream = torch.cuda.current_stream
        self.stream = torch.cuda.stream

    def put(self, values: torch.Tensor) -> torch.Tensor:
        return values.cuda()

    put_whole = put

    def launch(self, function: Callable[[torch.Tensor], torch.Tensor], tensor: torch.Tensor) -> torch.Tensor:
        torch.cuda._sleep(50_000_000)  # keeps the stream busy
        return function(tensor)


# With a GPU, the tests of the simulated device also run on the GPU.
DEVICES = ("simulated", "cuda") if torch.cuda.is_available() else ("simulated",)


def _call(tensor: torch.Tensor, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return method(tensor, *args, **kwargs)


def _storage(tensor: torch.Tensor) -> int:
    if tensor.layout is torch.sparse_coo:
        tensor = tensor._values()
    elif tensor.layout is not torch.strided:
        tensor = tensor.values()
    return int(tensor.untyped_storage()._cdata)
