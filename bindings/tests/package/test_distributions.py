"""Each distribution works without the others, and without packages that only an extra installs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import penstock
import pytest

# Installed packages, but for those whose import this refuses.
WITHOUT = """
import sys

class Absent:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent)
"""


def run_without(*names: str, program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT.format(names=names) + program]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


def penstock_alone(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a command of `penstock` where no other distribution of this project is installed."""
    (folder / "penstock").symlink_to(Path(penstock.__file__).parent)
    program = f"import sys; sys.path.insert(0, {str(folder)!r}); from penstock.__main__ import main; sys.exit(main())"
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60, env={"PATH": ""})


@pytest.mark.parametrize("command", ["simulate", "conformance"])
def test_a_command_of_another_distribution_names_it(tmp_path, command):
    distribution = {"simulate": "penstock-emulator", "conformance": "penstock-conformance"}[command]
    ended = penstock_alone(tmp_path, command, "--ranks", "1")
    assert ended.returncode == 1
    assert ended.stderr == f"penstock {command}: this command is part of another package; run pip install {distribution}\n"


def test_the_help_names_the_commands_of_other_distributions(tmp_path):
    ended = penstock_alone(tmp_path, "--help")
    assert ended.returncode == 0, ended.stderr
    assert "not installed: pip install penstock-emulator" in ended.stdout


def test_penstock_testing_without_the_emulator_names_the_distribution():
    ended = run_without("penstock_emulator", program="import penstock.testing")
    assert ended.stderr.endswith(
        "ModuleNotFoundError: penstock.testing needs the emulator, which is not installed; run pip install penstock-emulator\n"
    )


def test_the_emulator_needs_only_the_standard_library():
    program = (
        "before = set(sys.modules)\nimport penstock_emulator, penstock_emulator.simulate, penstock_emulator.offline_environment\n"
        "loaded = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(loaded - sys.stdlib_module_names - {'penstock_emulator'}))\n"
        "with penstock_emulator.emulated_s3() as s3:\n    print(s3.environment()['AWS_REGION'])\n    s3.client()\n"
    )
    ended = run_without("penstock", program=program)
    assert ended.stdout == "[]\nus-east-1\n"
    assert ended.stderr.endswith(
        "ModuleNotFoundError: client() and config() need the package penstock; run pip install penstock, or pass environment() to"
        " another client\n"
    )


def test_client_and_commands_work_without_torch(emulator, bucket):
    program = (
        "import penstock, penstock.aio, penstock.requests, penstock.fsspec\n"
        "from penstock.__main__ import main\n"
        f"client = penstock.S3Client('us-east-1', endpoint={emulator.endpoint!r}, s3client_config=penstock.S3ClientConfig("
        f"force_path_style=True, access_key_id={emulator.access_key_id!r}, secret_access_key={emulator.secret_access_key!r}))\n"
        f"with client.put_object({bucket!r}, 'a') as writer:\n    writer.write(b'1')\n"
        f"print(b''.join(client.get_object({bucket!r}, 'a')))\nmain(['completion', 'bash'])\n"
    )
    ended = run_without("torch", program=program)
    assert ended.stdout.startswith("b'1'\n"), ended.stderr
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    ("program", "name", "missing", "extra"),
    [
        ("import penstock; penstock.S3MapDataset", "penstock.S3MapDataset", "torch", "torch"),
        ("from penstock import S3IterableDataset", "penstock.S3IterableDataset", "torch", "torch"),
        ("import penstock.dcp", "penstock.dcp", "torch", "torch"),
        ("from penstock.dcp.s3_prefix_strategy import HexPrefixStrategy", "penstock.dcp", "torch", "torch"),
        ("from penstock.data import S3TarDataset", "penstock.data.S3TarDataset", "torch", "torch"),
        ("import penstock.fsspec", "penstock.fsspec", "fsspec", "fsspec"),
        ("import penstock.lightning", "penstock.lightning", "lightning", "lightning"),
    ],
)
def test_a_name_that_needs_an_extra_says_how_to_install_it(program, name, missing, extra):
    absent = (missing, "pytorch_lightning") if missing == "lightning" else (missing,)
    ended = run_without(*absent, program=program)
    assert ended.stderr.endswith(
        f"ModuleNotFoundError: {name} needs {missing}, which is not installed; run pip install 'penstock[{extra}]'\n"
    )
