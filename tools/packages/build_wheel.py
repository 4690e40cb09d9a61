"""Builds the wheel of one project for the interpreter that runs this file. `./dev wheels` runs it; see docs/how-to/wheels.md."""

import argparse
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pybind11
from project_urls import VARIABLE, add_urls, checked
from scikit_build_core.build import build_wheel
from third_party import licenses

TOOLS = Path(__file__).resolve().parents[1]


def check_import(package: str, folder: str) -> None:
    """Imports the extension of an unpacked wheel, which may be compiled for another interpreter after an error of the build."""
    if list(Path(folder, package).glob("_core.*.so")):
        subprocess.run([sys.executable, "-c", f"import {package}._core"], cwd=folder, check=True)


def manuals(distribution: str, folder: str, build_dir: Path) -> list[tuple[str, bytes]]:
    """Returns the names and contents of the man pages and completion scripts of an unpacked wheel's programs."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([folder, os.environ["PYTHONPATH"]]),
        "PENSTOCK_BUILD_DIR": str(build_dir),
    }
    with tempfile.TemporaryDirectory() as prefix:
        command = [sys.executable, str(TOOLS / "install_manuals.py"), distribution, prefix]
        subprocess.run(command, check=True, env=environment)
        files = sorted(path for path in Path(prefix).rglob("*") if path.is_file())
        return [(path.relative_to(prefix).as_posix(), path.read_bytes()) for path in files]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("project", type=Path, help="folder of a pyproject.toml")
    parser.add_argument("output", type=Path, help="folder for the wheel")
    parser.add_argument("--build-dir", type=Path, required=True, help="build folder; other interpreters may have used it")
    parser.add_argument("--static", type=Path, required=True, help="folder of tools/packages/static_dependencies.sh")
    arguments = parser.parse_args()
    url = os.environ.get(VARIABLE)
    if url:
        checked(url)
    output, static, build_dir = arguments.output.resolve(), arguments.static.resolve(), arguments.build_dir.resolve()
    settings = {
        "build-dir": str(build_dir),
        "cmake.define.PENSTOCK_STATIC_DEPENDENCIES": str(static),
        "cmake.define.PENSTOCK_WERROR": "ON",  # as in the builds of ./dev, whose objects ccache has
        "cmake.define.pybind11_DIR": pybind11.get_cmake_dir(),
    }
    (build_dir / "CMakeCache.txt").unlink(missing_ok=True)  # has the headers of the interpreter before
    project = arguments.project.resolve()
    os.chdir(project)
    name = build_wheel(str(output), settings)
    if url:
        add_urls(output / name, url, project.relative_to(TOOLS.parent).as_posix())
    package, version = name.split("-")[:2]
    distribution = package.replace("_", "-")
    added = []
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(output / name) as wheel:
            wheel.extractall(folder)
        check_import(package, folder)
        text = licenses(distribution, static / "copyright")
        if text:  # the wheel has code of C++
            added = [(f"{package}-{version}.dist-info/licenses/THIRD_PARTY_LICENSES", text.encode())]
            for file, content in manuals(distribution, folder, build_dir):
                added.append((f"{package}-{version}.data/data/{file}", content))
    with zipfile.ZipFile(output / name, "a", zipfile.ZIP_DEFLATED) as wheel:  # auditwheel completes RECORD
        for file, content in added:
            wheel.writestr(file, content)
    print(output / name)


if __name__ == "__main__":
    main()
