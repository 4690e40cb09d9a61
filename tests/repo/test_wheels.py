"""The wheels and the tools that build them (docs/how-to/wheels.md). PENSTOCK_LONG=1 builds those of this interpreter."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WHEELS = ROOT / "build/wheels"
LONG = bool(os.environ.get("PENSTOCK_LONG"))

specification = importlib.util.spec_from_file_location("third_party", ROOT / "tools/packages/third_party.py")
assert specification is not None and specification.loader is not None
third_party = importlib.util.module_from_spec(specification)
sys.modules["third_party"] = third_party
specification.loader.exec_module(third_party)

NOT_IN_WHEELS = {"Threads", "PkgConfig", "GTest", "benchmark", "Python", "Torch"}


@pytest.fixture
def sources(tmp_path):
    for name in ("curl", "cpp-httplib", "re2"):
        (tmp_path / name).write_text(f"copyright of {name}")
    return tmp_path


def test_every_dependency_of_the_build_is_in_the_list_of_licences():
    text = (ROOT / "cmake/PenstockDependencies.cmake").read_text()
    found = set(re.findall(r"(?:find_package|find_path|pkg_check_modules)\((\w+)", text)) - NOT_IN_WHEELS
    assert found | {"pybind11", ""} == {one.build_name for one in third_party.COMPONENTS}


def test_the_debian_package_names_the_libraries_that_it_contains():
    text = (ROOT / "packaging/debian/copyright").read_text()
    found = re.findall(r"^Files: (.*)$", text, re.M)
    assert found == ["*", *sorted(one.headers for one in third_party.COMPONENTS if one.headers)]


@pytest.mark.parametrize(("distribution", "libraries"), [("penstock", 6), ("penstock-emulator", 14)])
def test_the_licences_of_a_wheel_are_whole(sources, distribution, libraries):
    text = third_party.licenses(distribution, sources)
    wanted = [one for one in third_party.COMPONENTS if distribution in one.distributions]
    assert len(wanted) == libraries
    for component in wanted:
        assert f"\n{component.name}\n{'=' * 78}" in text
    assert ("copyright of curl" in text) == (distribution == "penstock")
    assert "GCC RUNTIME LIBRARY EXCEPTION" in text.upper()
    assert "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION" in text  # OpenSSL's licence in full


def test_pure_python_wheels_have_no_licences_of_others(sources):
    assert third_party.licenses("penstock-conformance", sources) == ""


def test_a_missing_licence_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="curl"):
        third_party.licenses("penstock", tmp_path)


def test_dev_wheels_names_a_wrong_option_and_interpreter():
    for arguments, text in ((["--fast"], "not '--fast'"), (["--python", "/no/python"], "'/no/python' is no Python interpreter")):
        done = subprocess.run(
            [ROOT / "dev", "wheels", *arguments], capture_output=True, text=True, check=False, timeout=60,
            env=dict(os.environ) | {"PENSTOCK_SKIP_APT": "1"},
        )  # fmt: skip
        assert done.returncode == 1
        assert text in done.stderr


def test_the_workflow_gives_an_interpreter_of_each_version():
    """`actions/setup-python` has no interpreter for a container of Debian, and --python takes a path."""
    job = yaml.safe_load((ROOT / ".github/workflows/wheels.yml").read_text())["jobs"]["build"]
    versions = re.search(r"^wheel_versions=\((.*)\)$", (ROOT / "tools/dev/wheels.sh").read_text(), re.M)
    assert job["strategy"]["matrix"]["python"] == versions[1].split()
    assert not [step for step in job["steps"] if "setup-python" in step.get("uses", "")]
    [option] = re.findall(r"\./dev wheels --python (.*)", "\n".join(step.get("run", "") for step in job["steps"]))
    assert option == '"$(/opt/uv/bin/uv python find --managed-python --no-project "${{ matrix.python }}")"'


@pytest.fixture(scope="module")
def built():
    address = {"PENSTOCK_REPOSITORY_URL": "https://github.com/owner/name"}
    subprocess.run([ROOT / "dev", "wheels", "--python", sys.executable], check=True, env=dict(os.environ) | address)
    return {wheel.name.split("-")[0]: wheel for wheel in WHEELS.glob("*.whl")}


@pytest.mark.skipif(not LONG, reason="builds wheels; PENSTOCK_LONG=1 runs it")
@pytest.mark.timeout(3600)
def test_wheels_need_only_the_c_library(built, tmp_path):
    assert set(built) == {"penstock", "penstock_emulator", "penstock_conformance"}
    for wheel_file in built.values():
        with zipfile.ZipFile(wheel_file) as wheel:
            [metadata] = [file for file in wheel.namelist() if file.endswith(".dist-info/METADATA")]
            assert "\nProject-URL: Repository, https://github.com/owner/name\n" in wheel.read(metadata).decode()
    for name in ("penstock", "penstock_emulator"):
        assert built[name].name.endswith("-manylinux_2_34_x86_64.whl")
        with zipfile.ZipFile(built[name]) as wheel:
            licences = [file for file in wheel.namelist() if ".dist-info/licenses/" in file and not file.endswith("/")]
            assert {file.rpartition("/")[2] for file in licences} == {"LICENSE", "NOTICE", "THIRD_PARTY_LICENSES"}
            data = {file.partition(".data/data/share/")[2] for file in wheel.namelist() if ".data/data/" in file}
            assert f"man/man1/{name.replace('_', '-')}.1" in data
            assert ("bash-completion/completions/penstock-emulator" in data) == (name == "penstock_emulator")
            binaries = [file for file in wheel.namelist() if file.endswith((".so", "scripts/penstock-emulator"))]
            assert len(binaries) == (1 if name == "penstock" else 2)
            for binary in binaries:
                dynamic = subprocess.run(
                    ["readelf", "-dW", wheel.extract(binary, tmp_path)], capture_output=True, text=True, check=True
                ).stdout
                needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
                assert needed <= {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}, binary
