"""Refuses metadata of a checkpoint that would leave elements unread or load those of another tensor."""

from __future__ import annotations

import pickle
from collections import Counter
from math import prod
from typing import TYPE_CHECKING, Any

import torch
from torch.distributed.checkpoint import planner_helpers
from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner

from .. import _core
from .._checkpoint_format._metadata_check import Damage, metadata_damage
from .._exceptions import S3DataLossError

if TYPE_CHECKING:
    from torch.distributed.checkpoint.metadata import Metadata
    from torch.distributed.checkpoint.planner import LoadPlan, LoadPlanner

# Returns the chunks of a tensor that this process has. None before torch 2.4.
_chunks_of: Any = getattr(planner_helpers, "_create_chunk_list", None)


def _error(uri: str, damage: Damage) -> S3DataLossError:
    folder = uri.rpartition("/")[0]
    return S3DataLossError(
        f"{uri}: invalid metadata of a distributed checkpoint: {damage.name!r} {damage.what}: the checkpoint is incomplete, or"
        f" its metadata was corrupted; `penstock checkpoint verify {folder}` names all damage; load another checkpoint"
    )


def unpickled_metadata(data: bytes, uri: str) -> Any:
    """Unpickles the content of the object `uri`. This can run code: use it for trusted checkpoints only.

    Raises:
        S3DataLossError: A damaged length or memo index would take much memory.
        Exception: Any exception of ``pickle.loads``.
    """
    try:
        _core.scan_pickle(data)
    except ValueError as error:
        raise S3DataLossError(f"{uri} {error}: it was corrupted; load another checkpoint") from None
    return pickle.loads(data)


def checked_metadata(metadata: Metadata, uri: str) -> dict[str, S3DataLossError]:
    """Checks the metadata in the object `uri`.

    Returns:
        Errors for loads of tensors that have fewer elements than their size, by name.

    Raises:
        S3DataLossError: The metadata cannot be true.
    """
    gaps: dict[str, S3DataLossError] = {}
    try:
        for damage in metadata_damage(metadata.state_dict_metadata, metadata.storage_data):
            if not damage.is_gap:
                raise _error(uri, damage)
            gaps[damage.name] = _error(uri, damage)
    except (AttributeError, TypeError, ValueError) as error:
        raise _error(uri, Damage("", f"cannot be read ({error})")) from error
    return gaps


def check_gaps(gaps: dict[str, S3DataLossError], plan: LoadPlan, planner: LoadPlanner) -> None:
    """Refuses a plan that does not fill its targets. A process that saved a part of a tensor may load that part.

    Raises:
        S3DataLossError: A target would keep elements of before the load.
    """
    # A planner of another class may leave out tensors, or name its targets differently.
    plans_all = type(planner).create_local_plan is DefaultLoadPlanner.create_local_plan
    sources = dict(zip(gaps, gaps, strict=True)) if plans_all else {}  # tensors in the checkpoint, by target
    read: Counter[str] = Counter()  # elements of each target
    for item in plan.items:
        if item.storage_index.fqn in gaps:
            sources[item.dest_index.fqn] = item.storage_index.fqn
            read[item.dest_index.fqn] += prod(item.lengths)
    targets = getattr(planner, "state_dict", {})
    for name, source in sources.items():
        target = targets.get(name)
        if isinstance(target, torch.Tensor):
            if _elements_of(target) != read[name]:
                raise gaps[source]
        elif name in read:  # the size of the target is unknown
            raise gaps[source]


def _elements_of(target: torch.Tensor) -> int:
    """Returns the number of the target's elements that this process has. -1: unknown."""
    if _chunks_of is not None:
        return sum(prod(chunk.sizes) for chunk in _chunks_of(target))
    return target.numel() if type(target) is torch.Tensor else -1
