"""Raises the same error in every surviving rank if a rank is lost during `dcp.save` or `dcp.load`.

torch synchronizes the ranks by the methods of a `_DistWrapper`, which it creates for each call and does not pass to the storage
writer or reader. If a rank dies, these methods fail with an error of the backend's transport, with a different text in each rank.
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

SAVE_OUTCOME = "The path holds either the previous or the new checkpoint, complete."
LOAD_OUTCOME = "The checkpoint is unchanged; the content of the tensors is undefined."

_COLLECTIVES = ("gather_object", "scatter_object", "broadcast_object", "all_gather_object", "barrier")
# The _DistWrapper whose reduce_scatter runs in this context. torch calls the writer or reader from within reduce_scatter.
_wrapper: ContextVar[Any] = ContextVar("penstock_dcp_wrapper", default=None)


class LostRankError(RuntimeError):
    """A rank died, or did not respond within the process group's timeout, during a distributed save or load.

    ``dcp.save`` and ``dcp.load`` raise it in every surviving rank, with the same text. The text contains the checkpoint, the step
    ("plan", "write" or "read") and the timeout in seconds. ``__cause__`` is torch's error in this rank, a RuntimeError too.
    """


def unify_lost_rank_errors(call: str, next_step: str, path: str, outcome: str) -> None:
    """Makes failed collectives of the current save or load raise :class:`LostRankError`. Call it from a storage writer or reader.

    Supports torch 2.3 to 2.13. If a later version renames the collectives, its own error is raised.

    Args:
        call: The function that the user called: ``"dcp.save"`` or ``"dcp.load"``.
        next_step: torch's name of the step after "plan".
        path: Path of the checkpoint.
        outcome: A sentence that describes the state after the failure.
    """
    wrapper = _wrapper.get()
    if wrapper is None or not getattr(wrapper, "use_dist", False):
        return
    step = "plan"

    def wrap(collective: Callable[..., Any], last_of_plan: bool) -> Callable[..., Any]:
        def call_or_raise(*args: Any, **kwargs: Any) -> Any:
            nonlocal step
            try:
                result = collective(*args, **kwargs)
            except RuntimeError as error:
                if not _is_of_collective(error):
                    raise
                raise LostRankError(
                    f"{call} of {path} failed in step {step!r}: a rank was lost, or did not respond within the process group's"
                    f" timeout{_timeout_of(wrapper.group)}. {outcome} Restart all ranks."
                ) from error
            if last_of_plan:
                step = next_step
            return result

        return call_or_raise

    for name in _COLLECTIVES:
        collective = getattr(wrapper, name, None)
        if collective is not None:
            setattr(wrapper, name, wrap(collective, last_of_plan=name == "scatter_object"))


def _record_wrapper(wrapper_class: Any) -> None:
    """Patches `reduce_scatter`, the first step of a save or load, to record the wrapper object in `_wrapper`."""
    reduce_scatter = getattr(wrapper_class, "reduce_scatter", None)
    if reduce_scatter is None:
        return

    @functools.wraps(reduce_scatter)
    def recorded(self: Any, *args: Any, **kwargs: Any) -> Any:
        token = _wrapper.set(self)
        try:
            return reduce_scatter(self, *args, **kwargs)
        finally:
            _wrapper.reset(token)

    wrapper_class.reduce_scatter = recorded


_record_wrapper(getattr(utils, "_DistWrapper", None))


def _is_of_collective(error: BaseException) -> bool:
    """Whether a collective itself raised the error, rather than an object that it pickled or unpickled."""
    entries = traceback.extract_tb(error.__traceback__)
    return bool(entries) and entries[-1].filename == dist.distributed_c10d.__file__


def _timeout_of(group: Any) -> str:
    try:
        known: Any = group or dist.group.WORLD
        backend = known._get_backend(torch.device("cpu"))
        return f" ({backend.options._timeout.total_seconds():g} s)"
    except (AttributeError, RuntimeError):
        return ""
