"""tests/hygiene/public_headers.py accepts a clean header and finds each planted violation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


def run(folder: Path) -> tuple[int, str]:
    command = [sys.executable, str(HERE / "public_headers.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def plant(folder: Path, header: str, text: str) -> None:
    path = folder / "penstock" / header
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_header_of_the_standard_library_passes(tmp_path: Path) -> None:
    plant(tmp_path, "fine.h", "#pragma once\n#include <string>\nstd::string Fine();\n")
    assert run(tmp_path) == (0, "public headers: 1 compile by themselves and include no third-party header\n")


def test_a_folder_without_headers_fails(tmp_path: Path) -> None:
    status, output = run(tmp_path)
    assert status == 1
    assert "no headers in" in output


@pytest.mark.parametrize("library", ["curl/curl.h", "openssl/evp.h", "sqlite3.h", "pugixml.hpp", "httplib.h"])
def test_an_indirect_third_party_include_is_found(tmp_path: Path, library: str) -> None:
    plant(tmp_path, "detail/deep.h", f"#pragma once\n#include <{library}>\n")
    plant(tmp_path, "leaky.h", '#pragma once\n#include "penstock/detail/deep.h"\n')
    status, output = run(tmp_path)
    assert status == 1
    assert "penstock/leaky.h includes" in output
    assert library in output


def test_a_header_that_does_not_compile_by_itself_is_found(tmp_path: Path) -> None:
    plant(tmp_path, "needy.h", "#pragma once\nstd::string Needy();\n")
    status, output = run(tmp_path)
    assert status == 1
    assert "penstock/needy.h does not compile by itself" in output


def test_torch_h_may_include_torch_but_not_curl(tmp_path: Path) -> None:
    plant(tmp_path, "torch.h", "#pragma once\n#include <torch/torch.h>\n#include <string>\n")
    assert run(tmp_path)[0] == 0
    plant(tmp_path, "torch.h", "#pragma once\n#include <torch/torch.h>\n#include <curl/curl.h>\n")
    status, output = run(tmp_path)
    assert status == 1
    assert "penstock/torch.h includes curl/curl.h" in output


def test_a_header_that_exports_nothing_is_found(tmp_path: Path) -> None:
    plant(tmp_path, "hidden.h", "#pragma once\nnamespace penstock {\nvoid Hidden();\n}\n")
    status, output = run(tmp_path)
    assert status == 1
    assert "penstock/hidden.h hides its names in shared libraries" in output
