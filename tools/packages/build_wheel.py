"""Builds the wheel of one project for the interpreter that runs this file. `./dev wheels` runs it; see docs/how-to/wheels.md."""

import argparse
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pybind11
from scikit_build_core.build import build_wheel
from third_party import licenses


def check_import(wheel: Path) -> None:
    """Imports the extension of a wheel, which may be compiled for another interpreter after an error of the build."""
    package = wheel.name.split("-")[0]
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as files:
            files.extractall(folder)
        if list(Path(folder, package).glob("_core.*.so")):
            subprocess.run([sys.executable, "-c", f"import {package}._core"], cwd=folder, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("project", type=Path, help="folder of a pyproject.toml")
    parser.add_argument("output", type=Path, help="folder for the wheel")
    parser.add_argument("--build-dir", type=Path, required=True, help="build folder; other interpreters may have used it")
    parser.add_argument("--static", type=Path, required=True, help="folder of tools/packages/static_dependencies.sh")
    arguments = parser.parse_args()
    output, static = arguments.output.resolve(), arguments.static.resolve()
    settings = {
        "build-dir": str(arguments.build_dir.resolve()),
        "cmake.define.PENSTOCK_STATIC_DEPENDENCIES": str(static),
        "cmake.define.PENSTOCK_WERROR": "ON",  # as in the builds of ./dev, whose objects ccache has
        "cmake.define.pybind11_DIR": pybind11.get_cmake_dir(),
    }
    (arguments.build_dir / "CMakeCache.txt").unlink(missing_ok=True)  # has the headers of the interpreter before
    os.chdir(arguments.project)
    name = build_wheel(str(output), settings)
    check_import(output / name)
    text = licenses(name.split("-")[0].replace("_", "-"), static / "copyright")
    if text:
        information = "-".join(name.split("-")[:2]) + ".dist-info"
        with zipfile.ZipFile(output / name, "a", zipfile.ZIP_DEFLATED) as wheel:  # auditwheel completes RECORD
            wheel.writestr(f"{information}/licenses/THIRD_PARTY_LICENSES", text)
    print(output / name)


if __name__ == "__main__":
    main()
