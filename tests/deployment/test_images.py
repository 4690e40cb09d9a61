"""The images: their settings agree with the emulator. Long runs build the image of the emulator with buildah, and run it.

The build compiles everything. PENSTOCK_BUILDAH_OPTIONS adds options to `buildah bud` that make it faster: an image that has
compilers and ccache, and the folder of the cache (`--build-arg BUILD_BASE=oci:DIR -v DIR:DIR`).
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from debian_root import BUILD, make_root, needs, run

if sys.version_info >= (3, 11):
    import tomllib
else:  # pytest depends on tomli
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
EXECUTABLE = BUILD / "emulator/server/penstock-emulator"
DOCKERFILES = {name: ROOT / f"docker/{name}/Dockerfile" for name in ("emulator", "training")}
STOP_TIMEOUT_S = 30
MAX_EMULATOR_BYTES = 25 << 20  # above the base

# Stores an object and reads it back. It runs in the network of the container.
ROUND_TRIP = """
import boto3
client = boto3.client("s3", endpoint_url="http://127.0.0.1:9000", region_name="us-east-1",
                      aws_access_key_id="penstock", aws_secret_access_key="penstock-secret")
client.create_bucket(Bucket="bucket")
client.put_object(Bucket="bucket", Key="key", Body=b"x" * 9_000_000)
print(len(client.get_object(Bucket="bucket", Key="key")["Body"].read()))
"""


def instructions(dockerfile: Path) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile, for example ("EXPOSE", "9000")."""
    text = re.sub(r"^#.*\n", "", dockerfile.read_text(), flags=re.M).replace("\\\n", " ")
    return [(line.split()[0], line.split(maxsplit=1)[1].strip()) for line in text.splitlines() if line.strip()]


def value_of(dockerfile: Path, name: str) -> str:
    """The argument of the last instruction with the name."""
    return [value for key, value in instructions(dockerfile) if key == name][-1]


def variables_of_the_image() -> dict[str, str]:
    return dict(word.split("=", 1) for word in shlex.split(value_of(DOCKERFILES["emulator"], "ENV")))


def test_the_emulator_accepts_the_settings_of_its_image(tmp_path: Path) -> None:
    emulator = DOCKERFILES["emulator"]
    variables = variables_of_the_image()
    assert value_of(emulator, "EXPOSE") == variables["PENSTOCK_EMULATOR_PORT"] == "9000"
    assert value_of(emulator, "VOLUME") == variables["PENSTOCK_EMULATOR_DATA"]
    assert json.loads(value_of(emulator, "ENTRYPOINT")) == ["penstock-emulator"]
    health = json.loads(value_of(emulator, "HEALTHCHECK").partition("CMD ")[2])
    assert health[0] == "penstock-emulator"
    local = {
        "PENSTOCK_EMULATOR_HOST": "127.0.0.1",
        "PENSTOCK_EMULATOR_PORT": "0",
        "PENSTOCK_EMULATOR_DATA": str(tmp_path / "data"),
    }
    with subprocess.Popen([EXECUTABLE], stdout=subprocess.PIPE, text=True, env=variables | local) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline() or "{}")
        port = {"PENSTOCK_EMULATOR_PORT": ready.get("endpoint", ":0").rsplit(":", 1)[1]}
        healthy = subprocess.run([EXECUTABLE, *health[1:]], env=variables | port, check=False).returncode
        process.terminate()
    assert (ready.get("event"), healthy, process.returncode) == ("ready", 0, 0)
    assert (tmp_path / "data").is_dir()


@pytest.mark.parametrize("name", DOCKERFILES)
def test_an_image_has_no_root_user_and_a_base_to_choose(name: str) -> None:
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", value_of(DOCKERFILES[name], "USER"))
    arguments = [value for key, value in instructions(DOCKERFILES[name]) if key == "ARG"]
    assert arguments[0].startswith("BASE=")


@pytest.mark.parametrize("name", DOCKERFILES)
def test_an_image_is_built_with_packages_of_the_setup(name: str) -> None:
    install = next(value for key, value in instructions(DOCKERFILES[name]) if key == "RUN")
    packages = set(install.partition("--no-install-recommends")[2].split())
    listed = set((ROOT / "tools/apt-packages.txt").read_text().splitlines())
    assert packages <= listed | {"dpkg-dev", "file", "g++", "python3"}  # packages of the list contain these


@pytest.mark.parametrize("name", DOCKERFILES)
def test_the_build_context_has_what_an_image_copies(name: str) -> None:
    context = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert [path for path in context if not list(ROOT.glob(path))] == []
    copied = [value.split()[0] for key, value in instructions(DOCKERFILES[name]) if key == "COPY"]
    assert copied[0] == "."
    assert set(copied[1:]) <= context


def test_the_build_context_has_what_the_builds_read() -> None:
    """The licence files and the readme of pyproject.toml, and the folders that CMake adds in the builds of the images."""
    context = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    cmake = (ROOT / "CMakeLists.txt").read_text()
    modules = re.findall(r"^set\(modules (.*)\)$", cmake, re.M)
    modules += re.findall(r"^if\(PENSTOCK_(?:EMULATOR|PYTHON)\)\n  list\(APPEND modules (.*)\)$", cmake, re.M)
    assert len(modules) == 3
    folders = {module.partition("/")[0] for line in modules for module in line.split()}
    assert {*project["license-files"], project["readme"], *folders} - context == set()


def test_the_compose_file_runs_the_job_after_the_emulator() -> None:
    services = yaml.safe_load((ROOT / "docker/compose.yaml").read_text())["services"]
    port = value_of(DOCKERFILES["emulator"], "EXPOSE")
    assert services["emulator"]["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert services["emulator"]["volumes"] == [f"buckets:{value_of(DOCKERFILES['emulator'], 'VOLUME')}"]
    job = services["job"]
    assert "network_mode" not in job, "the job finds the emulator by the name of its service, with the bucket in the path"
    assert job["environment"]["AWS_ENDPOINT_URL"] == f"http://emulator:{port}"
    assert job["depends_on"] == {"emulator": {"condition": "service_healthy"}}
    for service in services.values():
        assert (ROOT / "docker" / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    program = json.loads(value_of(DOCKERFILES["training"], "CMD"))[1]
    assert (ROOT / "examples/python" / program).is_file()


class Buildah:
    """buildah with its own storage, without an image registry and without privileges beyond a chroot."""

    def __init__(self, folder: Path) -> None:
        folders = ["--root", str(folder / "storage"), "--runroot", str(folder / "run")]
        self.command = ["buildah", *folders, "--storage-driver", "vfs"]

    def __call__(self, *arguments: str | Path) -> str:
        return run(*self.command, *arguments).strip()

    def add_base(self, root: Path) -> str:
        """Makes an image of the files of a root."""
        container = self("from", "scratch")
        self("add", container, root, "/")
        self("commit", "--quiet", "--rm", container, "penstock-base")
        return "localhost/penstock-base"

    def size_above_base(self, image: str) -> int:
        """The bytes of the last layer of an image, uncompressed."""
        manifest = json.loads(json.loads(self("inspect", "--type", "image", image))["Manifest"])
        assert len(manifest["layers"]) == 2
        return manifest["layers"][1]["size"]

    def configuration(self, image: str) -> dict[str, Any]:
        return json.loads(self("inspect", "--type", "image", image))["Docker"]["config"]


@contextmanager
def running(buildah: Buildah, image: str, *arguments: str) -> Iterator[tuple[int, str]]:
    """Runs the entry point of an image in a network of its own. The values are its process id and its container."""
    configuration = buildah.configuration(image)
    container = buildah("from", "--pull-never", image)
    command = [*configuration["Entrypoint"], *(arguments or configuration["Cmd"] or [])]
    inner = shlex.join([*buildah.command, "run", "--isolation", "chroot", container, "--", *command])
    process = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", f"ip link set lo up && exec {inner}"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        yield ready["pid"], container
    finally:
        os.kill(ready["pid"], 15)
        assert process.wait(STOP_TIMEOUT_S) == 0
        buildah("rm", container)


@needs("buildah", "debootstrap", "ip", "nsenter", "unshare")
@pytest.mark.timeout(7200)
def test_a_built_image_serves_s3_to_others_and_is_healthy(tmp_path: Path) -> None:
    buildah = Buildah(tmp_path)
    base = buildah.add_base(make_root(tmp_path / "root"))
    options = ["--isolation", "chroot", "--format", "docker", "--build-arg", f"BASE={base}"]
    options += shlex.split(os.environ.get("PENSTOCK_BUILDAH_OPTIONS", ""))
    buildah("bud", "--quiet", *options, "-f", DOCKERFILES["emulator"], "-t", "penstock-emulator", ROOT)
    image = "localhost/penstock-emulator"
    assert buildah.size_above_base(image) < MAX_EMULATOR_BYTES
    with running(buildah, image) as (pid, container):
        status = Path(f"/proc/{pid}/status").read_text()
        assert re.search(r"^Uid:\t10001\t10001\t10001", status, re.M)
        network = ["nsenter", "--net", "--target", str(pid)]
        assert run(*network, sys.executable, "-c", ROUND_TRIP).strip() == "9000000"
        health = buildah.configuration(image)["Healthcheck"]["Test"]
        assert health[0] == "CMD"
        assert run(*network, *buildah.command, "run", "--isolation", "chroot", container, "--", *health[1:]) == "healthy\n"
