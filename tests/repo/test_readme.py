"""The programs of README.md run as they stand on the page, its chart is that of the recorded figures, and it stays short."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import penstock
import pytest
import torch
from penstock.testing import Emulator

ROOT = Path(__file__).resolve().parents[2]


def program_of(section: str) -> str:
    text = (ROOT / "README.md").read_text().partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    found = re.search(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert found is not None, f"README.md has no program in the section {section}"
    return found[1]


def run(*command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = dict(os.environ) | environment
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=150, check=False, env=settings)


def test_the_training_program_of_the_readme_leaves_a_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(program_of("Train with it"))
    with Emulator() as s3:
        done = run(sys.executable, "train.py", folder=tmp_path, **s3.environment())
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        client = s3.client()
        keys = [info.key for page in client.list_objects("my-bucket") for info in page.object_info]
        assert keys == ["run/step-100.pt", *(f"train/{number:03}" for number in range(100))]
        checkpoint = penstock.S3Checkpoint(region="us-east-1", endpoint=s3.endpoint, s3client_config=s3.config())
        with checkpoint.reader("s3://my-bucket/run/step-100.pt") as reader:
            assert torch.load(reader, weights_only=True) == {"bytes": 100_000}


def test_the_test_of_the_readme_passes_and_can_fail(tmp_path: Path) -> None:
    program = program_of("Test with it")
    (tmp_path / "test_readme_sample.py").write_text(program)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "penstock_emulator.pytest_plugin",
        "-q",
        "-p",
        "no:cacheprovider",
        "test_readme_sample.py",
    ]
    done = run(*command, folder=tmp_path)
    assert "1 passed" in done.stdout, done.stdout
    (tmp_path / "test_readme_sample.py").write_text(program.replace("assert_count(3", "assert_count(2"))
    assert "1 failed" in run(*command, folder=tmp_path).stdout


@pytest.mark.parametrize("section", ["Train with it", "Test with it"])
def test_a_program_of_the_readme_has_about_ten_lines(section: str) -> None:
    assert len([line for line in program_of(section).splitlines() if line.strip()]) <= 12


def test_the_readme_has_at_most_200_lines() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 200


def test_the_chart_shows_the_recorded_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    import chart

    assert chart.TARGET.read_text() == chart.drawing(chart.page_of_figures().read_text()), "run python bench/chart.py"


@pytest.mark.parametrize("page", ["README.md", "docs/explanation/performance.md"])
def test_the_text_of_the_chart_has_its_figures(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    import chart

    values, _ = chart.recorded(chart.page_of_figures().read_text())
    (text,) = re.findall(r"^!\[(.*)\]\(.*/benchmark\.svg\)$", (ROOT / page).read_text(), re.M)
    figures = {f"{value:g}" for by_program in values.values() for value in by_program.values()}
    assert figures <= set(re.findall(r"\d+(?:\.\d+)?", text))


def test_the_recording_is_small() -> None:
    assert (ROOT / "docs/images/demo.svg").stat().st_size < 300_000
