"""The Python programs of docs/how-to/scale-out.md run, one after the other in one process, and read what is stored."""

from __future__ import annotations

import io
import json
import os
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from page_programs import programs_of
from penstock.testing import Emulator

ROWS = 1000

BEFORE = """
import ray

ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
"""

AFTER = """
import json, os
from types import SimpleNamespace

os.makedirs("out/checkpoint-7")
open("out/checkpoint-7/state.json", "w").write("{}")
Upload().on_save(SimpleNamespace(output_dir="out"), SimpleNamespace(global_step=7), None)
print(json.dumps({
    "ray": table.count(),
    "runs": run_config.storage_filesystem.get_file_info("my-bucket/images/1.jpg").size,
    "stream": sum(1 for row in stream),
    "dask": len(frame),
    "duckdb": rows[0][0],
    "pyarrow": dataset.count_rows(),
}))
"""


@pytest.mark.timeout(300)
def test_the_programs_on_scale_out_run(tmp_path: Path, ray_settings: dict[str, str]) -> None:
    memory = io.BytesIO()
    pq.write_table(pa.table({"a": list(range(ROWS))}), memory)
    program = tmp_path / "program.py"
    program.write_text("\n".join([BEFORE, *programs_of("how-to/scale-out.md"), AFTER]))
    settings = ray_settings | {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"}
    with Emulator() as emulator:
        client = emulator.client()
        client.create_bucket("my-bucket")
        client.put("my-bucket", "table/0.parquet", memory.getvalue())
        client.put("my-bucket", "images/1.jpg", b"an image")
        done = subprocess.run(
            [os.environ["PENSTOCK_ENGINES_PYTHON"], str(program)],
            env=dict(os.environ) | emulator.environment() | settings, cwd=tmp_path,
            capture_output=True, text=True, timeout=250, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        first, *_, last = done.stdout.splitlines()
        assert first == "my-bucket/images/1.jpg"
        numbers = dict.fromkeys(("ray", "stream", "dask", "duckdb", "pyarrow"), ROWS) | {"runs": len(b"an image")}
        assert json.loads(last) == numbers
        assert client.get("my-bucket", "run/checkpoint-7/state.json").body == b"{}"
