"""Which planners hand out the state dict's own memory, as torch's do; others may give the same memory again."""

from __future__ import annotations

from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner, DefaultSavePlanner
from torch.distributed.checkpoint.planner import LoadPlanner, SavePlanner

_SAVE_HOOKS = ("resolve_data", "lookup_object", "transform_object")
_LOAD_HOOKS = ("resolve_tensor", "lookup_tensor", "transform_tensor", "commit_tensor")


def saves_own_memory(planner: SavePlanner) -> bool:
    """Whether its data are the state's tensors: what another one gave may be overwritten when the next is asked for."""
    return _leaves_alone(planner, DefaultSavePlanner, _SAVE_HOOKS)


def loads_own_memory(planner: LoadPlanner) -> bool:
    """Whether its targets are parts of the state's tensors."""
    return _leaves_alone(planner, DefaultLoadPlanner, _LOAD_HOOKS)


def _leaves_alone(planner: object, default: type, hooks: tuple[str, ...]) -> bool:
    return all(getattr(type(planner), hook, None) is getattr(default, hook) for hook in hooks)
