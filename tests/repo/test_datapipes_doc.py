"""Each Python program of docs/how-to/datapipes.md runs and prints what its text says."""

from __future__ import annotations

from pathlib import Path

from page_programs import printed_numbers
from penstock.testing import Emulator


def test_the_programs_run(tmp_path: Path) -> None:
    with Emulator() as emulator:
        client = emulator.client()
        client.create_bucket("my-bucket")
        for number in range(10):
            with client.put_object("my-bucket", f"train/{number}.txt") as writer:
                writer.write(b"a line\n")
        lines, nodes = printed_numbers("how-to/datapipes.md", tmp_path, emulator)
    assert sum(lines) == 10  # sharded: each line once
    assert nodes == [4, 6]
