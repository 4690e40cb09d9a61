"""The Conan recipe contains what the build reads. packaging/README.md says what was tried with Conan and vcpkg themselves."""

from __future__ import annotations

import ast
import shutil
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def constant_of(file: Path, name: str) -> Any:
    """The value of a constant of a Python file, which is not imported."""
    (value,) = (
        node.value
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name
    )
    return ast.literal_eval(value)


def test_the_files_of_the_conan_recipe_can_be_configured(tmp_path: Path) -> None:
    recipe = ROOT / "packaging/conan/conanfile.py"
    for name in constant_of(recipe, "FILES"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for name in constant_of(recipe, "FOLDERS"):
        shutil.copytree(ROOT / name, tmp_path / name)
    command = ["cmake", "-S", tmp_path, "-B", tmp_path / "build", "-G", "Ninja", "-DPENSTOCK_TESTS=OFF"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
