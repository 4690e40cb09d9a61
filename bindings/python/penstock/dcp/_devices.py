"""Accelerators: their torch modules, and the current streams of the thread that saves."""

from __future__ import annotations

from typing import Any

import torch

# Device types with streams. A private backend is found by its registered name.
STREAM_DEVICES = ("cuda", "xpu")


def stream_module(device_type: str) -> Any | None:
    """Returns the torch module of a device type, for example ``torch.cuda``; None if the device type has no streams."""
    module = getattr(torch, device_type, None)
    needed = ("Stream", "Event", "stream", "current_stream")
    return module if all(hasattr(module, name) for name in needed) else None


class CallerStreams:
    """The current device and streams of the thread that creates this object.

    torch keeps both per thread. A worker thread starts with device 0 and the default streams, which do not wait for work that
    the caller launched on other streams.
    """

    def __init__(self) -> None:
        self._current: list[tuple[Any, int, list[Any]]] = []
        for name in (*STREAM_DEVICES, torch._C._get_privateuse1_backend_name()):
            module = stream_module(name)
            if module is None or not (hasattr(module, "is_initialized") and module.is_initialized()):
                continue  # no work was launched on this device type
            streams = [module.current_stream(index) for index in range(module.device_count())]
            self._current.append((module, module.current_device(), streams))

    def adopt(self) -> None:
        """Makes the device and streams current in the calling thread."""
        for module, device, streams in self._current:
            for index, stream in enumerate(streams):
                if module.current_stream(index) != stream:
                    module.set_stream(stream)
            if module.current_device() != device:  # set_stream changes the current device
                module.set_device(device)
