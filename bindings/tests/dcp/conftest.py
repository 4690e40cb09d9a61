"""Prepares the fork server that starts the ranks."""

from __future__ import annotations

import multiprocessing

# This process has one fork server, which imports the modules that are set before its first use. Without torch in it, each rank of
# a later test would import torch.
multiprocessing.set_forkserver_preload(["torch.distributed.checkpoint", "penstock.dcp", "dcp_ranks"])
