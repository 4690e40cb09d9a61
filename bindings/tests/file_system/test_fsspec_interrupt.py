"""Ctrl-C ends every call of the file system that waits for a server. Each call runs in its own process."""

from __future__ import annotations

import textwrap

import interrupted
import pytest

FILE_SYSTEM = """
    import tempfile
    from penstock.fsspec import S3FileSystem
    fs = S3FileSystem(key="a", secret="b", endpoint_url=endpoint, client_kwargs={"region_name": "us-east-1"})
    local = tempfile.NamedTemporaryFile()
    local.write(bytes(1000))
    local.flush()
"""

CALLS = {
    "one request": 'fs.cat_file("b/k")',
    "many requests": 'fs.cat(["b/1", "b/2"])',
    "ranges": 'fs.cat_ranges(["b/1", "b/2"], 0, 10)',
    "a listing": 'fs.ls("b/d")',
    "a search": 'fs.find("b/d")',
    "a pattern": 'fs.glob("b/*/k")',
    "a walk": 'list(fs.walk("b/d", on_error="raise"))',
    "opening": 'fs.open("b/k")',
    "closing": 'f = fs.open("b/k", "wb"); f.write(b"x"); f.close()',
    "leaving a block": 'with fs.open("b/k", "w") as f: f.write("x")',
    "downloading a file": 'fs.get("b/k", "/dev/null")',
    "downloading one file": 'fs.get_file("b/k", local.name)',
    "uploading a file": 'fs.put(local.name, "b/k")',
    "uploading one file": 'fs.put_file(local.name, "b/k")',
    "writing values": 'fs.pipe({"b/k": b"x", "b/l": b"y"})',
    "changing metadata": 'fs.setxattr("b/k", a="1")',
    "merging": 'fs.merge("b/k", ["b/1", "b/2"])',
    "copying": 'fs.copy(["b/1"], ["b/2"])',
    "deleting": 'fs.rm("b/d", recursive=True)',
}


@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_ends(call):
    program = textwrap.dedent(interrupted.SILENT_SERVER) + textwrap.dedent(FILE_SYSTEM)
    program += f"try:\n    {CALLS[call]}\nexcept KeyboardInterrupt:\n    sys.exit(42)\n"
    assert interrupted.exit_status(program, timeout_s=60) == 42
