"""tools/console/embed.py writes the console into a C++ source, and notices every change of it."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools/console/embed.py"


def embed(dist: Path, output: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOL), str(dist), str(output), "--depfile", f"{output}.d"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def build(dist: Path) -> None:
    (dist / "assets").mkdir(parents=True)
    (dist / "index.html").write_text("<!doctype html>")
    (dist / "assets/index-C0FFEE12.js").write_text("start();" * 100)


def test_the_source_has_the_files_compressed(tmp_path: Path) -> None:
    build(tmp_path / "dist")
    output = tmp_path / "assets.cc"
    assert embed(tmp_path / "dist", output).returncode == 0
    source = output.read_text()
    arrays = [bytes(map(int, text.split(","))) for text in re.findall(r"kFile\d\[\] = \{\n([\d,\n]+)\}", source)]
    assert [gzip.decompress(array) for array in arrays] == [b"start();" * 100, b"<!doctype html>"]
    assert re.findall(r'\{"([^"]+)", "([^"]+)"', source) == [
        ("assets/index-C0FFEE12.js", "text/javascript; charset=utf-8"), ("index.html", "text/html; charset=utf-8"),
    ]  # fmt: skip


def test_the_build_tool_learns_of_all_files_and_folders(tmp_path: Path) -> None:
    dist, output = tmp_path / "build/console/dist", tmp_path / "assets.cc"
    assert embed(dist, output).returncode == 0
    assert Path(f"{output}.d").read_text() == f"{output}: {tmp_path}\n"
    assert "kFile" not in output.read_text()
    build(dist)
    assert embed(dist, output).returncode == 0
    names = Path(f"{output}.d").read_text().split()[1:]
    assert names == [str(dist / name) for name in ("", "assets", "assets/index-C0FFEE12.js", "index.html")]


def test_an_unchanged_source_is_not_written(tmp_path: Path) -> None:
    build(tmp_path / "dist")
    output = tmp_path / "assets.cc"
    embed(tmp_path / "dist", output)
    before = output.stat().st_mtime_ns
    embed(tmp_path / "dist", output)
    assert output.stat().st_mtime_ns == before
    (tmp_path / "dist/index.html").write_text("<!doctype html>\n")
    embed(tmp_path / "dist", output)
    assert output.stat().st_mtime_ns != before


def test_files_that_browsers_would_keep_for_ever_need_a_hash(tmp_path: Path) -> None:
    build(tmp_path / "dist")
    (tmp_path / "dist/assets/index.js").write_text("")
    result = embed(tmp_path / "dist", tmp_path / "assets.cc")
    assert result.returncode == 1
    assert "its name must be assets/NAME-HASH.js" in result.stderr
    (tmp_path / "dist/assets/index.js").rename(tmp_path / "dist/assets/index-C0FFEE12.exe")
    assert "cannot send files of type '.exe'" in embed(tmp_path / "dist", tmp_path / "assets.cc").stderr
