"""fsspec's s3fs and obstore on the emulator. They have a separate Python environment (requirements-clients.txt)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

HERE = Path(__file__).parent


def run(script: str, s3, *arguments: str) -> str:
    environment = {
        **os.environ,
        "AWS_ACCESS_KEY_ID": s3.emulator.access_key_id,
        "AWS_SECRET_ACCESS_KEY": s3.emulator.secret_access_key,
        "AWS_DEFAULT_REGION": s3.emulator.region,
        **({"AWS_CA_BUNDLE": s3.ca} if s3.ca else {}),
    }
    environment.pop("PYTHONPATH", None)  # its packages are built for another environment
    command = [os.environ["PENSTOCK_CLIENTS_PYTHON"], str(HERE / script), s3.endpoint, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def test_fsspec(s3):
    assert run("clients_fsspec.py", s3).endswith("fsspec ok\n")


def test_obstore(s3, bucket):
    assert run("clients_obstore.py", s3, bucket).endswith("obstore ok\n")
