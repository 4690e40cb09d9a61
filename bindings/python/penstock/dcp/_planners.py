"""Detects planners that give out the memory of the state dict, as torch's do. Other planners may reuse one buffer."""

from __future__ import annotations

from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner, DefaultSavePlanner
from torch.distributed.checkpoint.planner import LoadPlanner, SavePlanner

_SAVE_HOOKS = ("resolve_data", "lookup_object", "transform_object")
_LOAD_HOOKS = ("resolve_tensor", "lookup_tensor", "transform_tensor", "commit_tensor")


def saves_own_memory(planner: SavePlanner) -> bool:
    """Whether the planner's data is the memory of the state dict. Otherwise the next `resolve_data` call may overwrite it."""
    return _inherits_hooks(planner, DefaultSavePlanner, _SAVE_HOOKS)


def loads_own_memory(planner: LoadPlanner) -> bool:
    """Whether the planner's targets are memory of the state dict."""
    return _inherits_hooks(planner, DefaultLoadPlanner, _LOAD_HOOKS)


def _inherits_hooks(planner: object, default: type, hooks: tuple[str, ...]) -> bool:
    return all(getattr(type(planner), hook, None) is getattr(default, hook) for hook in hooks)
