"""Loading by several processes: two ranks load DTensors that four ranks saved, and each fetches only its part."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import dtensor_rank
import penstock
from checkpoints import Checkpoints, Sharded, cut
from penstock.testing import Emulator


def test_two_ranks_load_the_dtensors_that_four_saved(
    emulator: Emulator, client: penstock.S3Client, bucket: str, tmp_path: Path
) -> None:
    checkpoints = Checkpoints(emulator, client, bucket)
    saved = dtensor_rank.values()
    dims = {"rows": 0, "columns": 1, "everywhere": 0}
    shards = {name: cut(saved[name], 4, dim) for name, dim in dims.items()}
    states = [
        {name: Sharded.of(saved[name].size(), saved[name].dtype, shards[name][rank]) for name in saved} for rank in range(4)
    ]
    uri = checkpoints.save(*states)
    mark = max(entry.number for entry in emulator.journal().entries())
    environment = os.environ | emulator.environment()
    command = [sys.executable, "-W", "ignore", dtensor_rank.__file__]
    ranks = [
        subprocess.Popen(
            [*command, str(rank), "2", str(tmp_path / "store"), uri], env=environment, stderr=subprocess.PIPE, text=True
        )
        for rank in range(2)
    ]
    for rank in ranks:
        _, errors = rank.communicate(timeout=150)
        assert rank.returncode == 0, errors
    entries = emulator.journal().entries(after=mark, bucket=bucket)
    assert {entry.operation for entry in entries} == {"GetObject"}
    assert sum(entry.key.endswith(".metadata") for entry in entries) == 2
    # Each rank needs half of two tensors and the whole third one.
    needed = 2 * (2 * saved["rows"].nbytes // 2 + saved["everywhere"].nbytes)
    assert sum(entry.bytes_out for entry in entries if entry.key.endswith(".distcp")) <= 1.02 * needed
