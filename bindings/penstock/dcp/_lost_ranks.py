"""One error for every rank that lives where another one is lost during `dcp.save` or `dcp.load`.

torch lets the ranks meet outside of what a writer or reader sees, by the methods of an object that it makes for each call. A
rank that dies makes them fail with whatever a backend's transport saw first, which is another text in each rank.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
import torch.distributed as dist

SAVE_OUTCOME = "The checkpoint that was there before loads, or the new one."
LOAD_OUTCOME = "The checkpoint is as it was; what the tensors hold is undefined."

_MEETINGS = ("gather_object", "scatter_object", "broadcast_object", "all_gather_object", "barrier")
_MOST_FRAMES = 8  # between torch's step and us: methods of classes that inherit from ours


class LostRankError(RuntimeError):
    """Another rank died, or did not come within the process group's timeout, while all saved or loaded together.

    Every rank that lives has it from ``dcp.save`` or ``dcp.load``, with the same text, which names the checkpoint, the step
    ("plan", "write" or "read") and the timeout in seconds. ``__cause__`` is what torch said in this rank. torch raises a
    RuntimeError there, which this is as well.
    """


def tell_alike(call: str, next_step: str, path: str, outcome: str) -> None:
    """Has the rest of torch's call that we are called by raise :class:`LostRankError` where the ranks cannot meet.

    Args:
        call: What the user called: ``"dcp.save"`` or ``"dcp.load"``.
        next_step: torch's name of the step that follows "plan".
        path: Of the checkpoint.
        outcome: A sentence: what is there now.

    Where torch has its steps under other names than in 2.3 to 2.13, its own error stays.
    """
    wrapper = _wrapper_of(sys._getframe(1))
    if wrapper is None or not getattr(wrapper, "use_dist", False):
        return
    step = "plan"

    def told(meet: Callable[..., Any], last_of_plan: bool) -> Callable[..., Any]:
        def meet_or_tell(*args: Any, **kwargs: Any) -> Any:
            nonlocal step
            try:
                result = meet(*args, **kwargs)
            except RuntimeError as error:
                if not _is_of_collective(error):
                    raise
                raise LostRankError(
                    f"{call} of {path} failed in step {step!r}: a rank was lost, or did not come within the process group's"
                    f" timeout{_timeout_of(wrapper.group)}. {outcome} Start all ranks again."
                ) from error
            if last_of_plan:
                step = next_step
            return result

        return meet_or_tell

    for name in _MEETINGS:
        meet = getattr(wrapper, name, None)
        if meet is not None:
            setattr(wrapper, name, told(meet, last_of_plan=name == "scatter_object"))


def _wrapper_of(frame: FrameType | None) -> Any:
    """What the ranks of the call that is under way meet by: `distW` of torch's `local_step`."""
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return None
        if frame.f_code.co_name == "local_step":
            return frame.f_locals.get("distW")
        frame = frame.f_back
    return None


def _is_of_collective(error: BaseException) -> bool:
    """Whether torch's collectives raised it themselves, and nothing that was pickled for them."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_globals.get("__name__") == dist.distributed_c10d.__name__


def _timeout_of(group: Any) -> str:
    try:
        known: Any = group or dist.group.WORLD
        backend = known._get_backend(torch.device("cpu"))
        return f" ({backend.options._timeout.total_seconds():g} s)"
    except (AttributeError, RuntimeError):
        return ""
