"""The third-party code in a wheel, and its licences, from Debian's copyright files and the packages of the console.

`python3 tools/packages/third_party.py penstock build/static/copyright` prints the text that the wheel of `penstock` contains.
Without arguments, prints the components and the distributions that contain them.
"""

import re
import sys
from dataclasses import dataclass
from importlib.metadata import files
from pathlib import Path

DOCUMENTS = Path("/usr/share/doc")
CONSOLE = Path(__file__).parents[2] / "console"
COMMON_LICENSES = Path("/usr/share/common-licenses")


@dataclass(frozen=True)
class Component:
    """A library that wheels contain."""

    name: str  # as in NOTICE
    build_name: str  # in cmake/PenstockDependencies.cmake
    licence: str  # of SPDX
    package: str  # of Debian: it has the version, and the licence's text unless `source` has it; empty: of PyPI
    distributions: tuple[str, ...]
    source: str = ""  # of static_dependencies.sh, whose copyright file applies
    headers: str = ""  # files of a library without a shared object: every build contains it
    npm: str = ""  # package of the console, which has the version and the licence's text


BOTH = ("penstock", "penstock-emulator")
COMPONENTS = (
    Component("libcurl", "CURL", "curl", "libcurl4-openssl-dev", ("penstock",), source="curl"),
    Component("OpenSSL", "OpenSSL", "Apache-2.0", "libssl-dev", BOTH),
    Component("SQLite", "SQLite3", "blessing", "libsqlite3-dev", ("penstock-emulator",)),
    Component("RE2", "re2", "BSD-3-Clause", "libre2-dev", ("penstock-emulator",), source="re2"),
    Component("pugixml", "pugixml", "MIT", "libpugixml-dev", BOTH),
    Component("cpp-httplib", "httplib", "MIT", "libcpp-httplib-dev", ("penstock-emulator",), source="cpp-httplib"),
    Component("nlohmann/json", "nlohmann_json", "MIT", "nlohmann-json3-dev", BOTH, headers="nlohmann/*"),
    Component("CLI11", "CLI11", "BSD-3-Clause", "libcli11-dev", ("penstock-emulator",), headers="CLI/*"),
    Component("toml++", "TOMLPLUSPLUS_INCLUDE_DIR", "MIT", "libtomlplusplus-dev", ("penstock-emulator",), headers="toml++/*"),
    Component("xxHash", "XXHASH_INCLUDE_DIR", "BSD-2-Clause", "libxxhash-dev", ("penstock-emulator",), headers="xxhash.h"),
    Component("hyparquet", "", "MIT", "", ("penstock-emulator",), headers="hyparquet/*", npm="hyparquet"),
    Component("Preact", "", "MIT", "", ("penstock-emulator",), headers="preact/*", npm="preact"),
    Component("uPlot", "", "MIT", "", ("penstock-emulator",), headers="uplot/*", npm="uplot"),
    Component("pybind11", "pybind11", "BSD-3-Clause", "", BOTH),
    Component("libstdc++", "", "GPL-3.0-or-later WITH GCC-exception-3.1", "libstdc++6", BOTH),
)


def _text_of(component: Component, sources: Path) -> str:
    if component.npm:
        return (CONSOLE / "node_modules" / component.npm / "LICENSE").read_text(encoding="utf-8")
    if not component.package:  # the Python package has its licence in its metadata
        found = [file for file in files(component.name) or [] if file.name == "LICENSE"]
        return Path(found[0].locate()).read_text(encoding="utf-8")
    path = sources / component.source if component.source else DOCUMENTS / component.package / "copyright"
    return path.read_text(encoding="utf-8")


def licenses(distribution: str, sources: Path) -> str:
    """Returns the licences of everything that a wheel of `distribution` contains. Empty: nothing of others.

    Args:
        distribution: Name of the distribution.
        sources: Folder of copyright files of sources that were built here.

    Raises:
        OSError: A copyright file does not exist; the message names it. `./dev console` installs those of the console.
    """
    wanted = [component for component in COMPONENTS if distribution in component.distributions]
    if not wanted:
        return ""
    parts = [f"The wheel of {distribution} contains code of these projects:\n\n" + "".join(f"- {one.name}\n" for one in wanted)]
    parts += [f"{'=' * 78}\n{one.name}\n{'=' * 78}\n\n{_text_of(one, sources)}" for one in wanted]
    named = sorted(set(re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])", "".join(parts))))
    for name in named:
        path = COMMON_LICENSES / name
        if path.is_file():
            parts.append(f"{'=' * 78}\n{path}\n{'=' * 78}\n\n{path.read_text(encoding='utf-8')}")
    return "\n\n".join(parts)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(licenses(sys.argv[1], Path(sys.argv[2])))
    else:
        for component in COMPONENTS:
            print(f"{component.name}: {', '.join(component.distributions)}")
