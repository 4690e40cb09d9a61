"""CheckpointReader: what torch.load reads through."""

from __future__ import annotations

from .adaptive import AdaptiveS3Reader


class CheckpointReader(AdaptiveS3Reader):
    """Reads a file like a checkpoint: a directory at the end, then large and small pieces in order."""
