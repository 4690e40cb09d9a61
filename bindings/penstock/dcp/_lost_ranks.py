"""One error for every rank that lives where another one is lost during `dcp.save` or `dcp.load`.

torch lets the ranks meet outside of what a writer or reader sees, by the methods of an object that it makes for each call. A
rank that dies makes them fail with whatever a backend's transport saw first, which is another text in each rank.
"""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.checkpoint import utils

SAVE_OUTCOME = "The checkpoint that was there before loads, or the new one."
LOAD_OUTCOME = "The checkpoint is as it was; what the tensors hold is undefined."

_MEETINGS = ("gather_object", "scatter_object", "broadcast_object", "all_gather_object", "barrier")
# The object whose reduce_scatter runs in this context: torch calls the writer or reader from within it.
_meeting: ContextVar[Any] = ContextVar("penstock_dcp_meeting", default=None)


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
    wrapper = _meeting.get()
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


def _note_meetings(wrapper_class: Any) -> None:
    """Has `reduce_scatter`, torch's first step of a save or load, note the object that it is called on.

    torch passes neither this object nor the process group to a storage writer or reader.
    """
    reduce_scatter = getattr(wrapper_class, "reduce_scatter", None)
    if reduce_scatter is None:
        return

    @functools.wraps(reduce_scatter)
    def noted(self: Any, *args: Any, **kwargs: Any) -> Any:
        token = _meeting.set(self)
        try:
            return reduce_scatter(self, *args, **kwargs)
        finally:
            _meeting.reset(token)

    wrapper_class.reduce_scatter = noted


_note_meetings(getattr(utils, "_DistWrapper", None))


def _is_of_collective(error: BaseException) -> bool:
    """Whether torch's collectives raised the error themselves, rather than an object that they pickled."""
    entries = traceback.extract_tb(error.__traceback__)
    return bool(entries) and entries[-1].filename == dist.distributed_c10d.__file__


def _timeout_of(group: Any) -> str:
    try:
        known: Any = group or dist.group.WORLD
        backend = known._get_backend(torch.device("cpu"))
        return f" ({backend.options._timeout.total_seconds():g} s)"
    except (AttributeError, RuntimeError):
        return ""
