"""The Debian package: its files, its unit, and an installation in a clean root."""

from __future__ import annotations

import configparser
import gzip
import json
import re
import shlex
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import boto3
import pytest
from debian_root import BUILD, PATH, in_root, make_package, make_root, needs, run

ROOT = Path(__file__).resolve().parents[2]
EXECUTABLE = BUILD / "emulator/server/penstock-emulator"
UNIT = "usr/lib/systemd/system/penstock-emulator.service"
SECRET = "etc/penstock-emulator/secret-key"
DEFAULT = "etc/default/penstock-emulator"
STOP_TIMEOUT_S = 30


def service_of(unit: Path) -> dict[str, str]:
    """The section [Service] of a unit."""
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",))
    parser.optionxform = str
    parser.read(unit)
    return dict(parser["Service"])


def variables_of(defaults: Path) -> dict[str, str]:
    """The variables of an EnvironmentFile= of systemd."""
    return dict(line.split("=", 1) for line in shlex.split(defaults.read_text(), comments=True))


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package of the executable in the build folder."""
    missing = [tool for tool in ("cpack", "dpkg-deb", "dpkg-shlibdeps") if shutil.which(tool) is None]
    if missing or not (BUILD / "CPackConfig.cmake").exists():
        pytest.skip(f"needs {', '.join(missing) or 'a build folder with PENSTOCK_INSTALL'}")
    return make_package(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module")
def unpacked(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the package."""
    folder = tmp_path_factory.mktemp("unpacked")
    run("dpkg-deb", "--raw-extract", package, folder)
    return folder


def test_the_package_has_the_stripped_executable_and_its_configuration(package: Path, unpacked: Path) -> None:
    version = (ROOT / "VERSION").read_text().strip()
    assert package.name == f"penstock-emulator_{version}_{run('dpkg', '--print-architecture').strip()}.deb"
    files = {str(path.relative_to(unpacked)) for path in unpacked.rglob("*") if path.is_file()}
    doc = {f"usr/share/doc/penstock-emulator/{name}" for name in ("changelog.gz", "copyright")}
    control = {f"DEBIAN/{name}" for name in ("conffiles", "control", "md5sums", "postinst", "postrm", "prerm")}
    manuals = {f"usr/share/man/man1/penstock-emulator{name}.1.gz" for name in ("", "-fsck", "-health")} | {
        "usr/share/bash-completion/completions/penstock-emulator",
        "usr/share/fish/vendor_completions.d/penstock-emulator.fish",
        "usr/share/zsh/vendor-completions/_penstock-emulator",
    }
    assert files == {"usr/bin/penstock-emulator", UNIT, DEFAULT} | doc | control | manuals
    assert (unpacked / "DEBIAN/conffiles").read_text().split() == [f"/{DEFAULT}"]
    assert (unpacked / "usr/bin/penstock-emulator").stat().st_size < 10 << 20, "not stripped"
    assert "libsqlite3-0" in run("dpkg-deb", "--field", package, "Depends")


def test_the_package_describes_the_executable(unpacked: Path) -> None:
    options = set(re.findall(r"^  (--[a-z-]+)", run(EXECUTABLE, "--help"), re.M)) - {"--version"}
    assert len(options) > 20
    page = gzip.decompress((unpacked / "usr/share/man/man1/penstock-emulator.1.gz").read_bytes()).decode().replace("\\-", "-")
    script = (unpacked / "usr/share/bash-completion/completions/penstock-emulator").read_text()
    assert {option for option in options if option not in page or option not in script} == set()


def test_systemd_accepts_every_line_of_the_unit(unpacked: Path, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze")
    unit = tmp_path / "penstock-emulator.service"
    unit.write_text((unpacked / UNIT).read_text().replace("/usr/bin/penstock-emulator", str(EXECUTABLE)))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_emulator_accepts_the_variables_of_the_package(unpacked: Path, tmp_path: Path) -> None:
    service = service_of(unpacked / UNIT)
    assert service["EnvironmentFile"] == f"/{DEFAULT}"
    assert service["ExecStart"] == "/usr/bin/penstock-emulator"
    variables = variables_of(unpacked / DEFAULT)
    assert variables["PENSTOCK_EMULATOR_HOST"] == "127.0.0.1"
    assert variables["PENSTOCK_EMULATOR_PORT"] == "9000"
    assert variables["PENSTOCK_EMULATOR_DATA"] == f"/var/lib/{service['StateDirectory']}"
    assert variables["PENSTOCK_EMULATOR_SECRET_KEY_FILE"] == f"/{SECRET}"
    (tmp_path / "secret-key").write_text("secret\n")
    local = {
        "PENSTOCK_EMULATOR_PORT": "0",
        "PENSTOCK_EMULATOR_DATA": str(tmp_path / "data"),
        "PENSTOCK_EMULATOR_SECRET_KEY_FILE": str(tmp_path / "secret-key"),
    }
    with subprocess.Popen([EXECUTABLE], stdout=subprocess.PIPE, text=True, env=variables | local) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline() or "{}")
        process.terminate()
    assert ready.get("event") == "ready"
    assert process.returncode == 0
    assert (tmp_path / "data").is_dir()


@pytest.fixture(scope="module")
def installed(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root of Debian 12 in which apt has installed the package."""
    root = make_root(tmp_path_factory.mktemp("debian") / "root")
    shutil.copy(package, root / "tmp/penstock-emulator.deb")
    in_root(root, "apt-get", "install", "-y", "-q", "--no-install-recommends", "/tmp/penstock-emulator.deb")
    return root


@pytest.fixture(scope="module")
def started(installed: Path) -> Callable[[], AbstractContextManager[str]]:
    """A function that starts the service in the root, as the unit describes it, on a free port. Its value is the endpoint."""
    service = service_of(installed / UNIT)
    user = service["User"]
    options = ["--reuid", user, "--regid", user, "--init-groups", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]

    @contextmanager
    def start() -> Iterator[str]:
        variables = variables_of(installed / DEFAULT) | {"PENSTOCK_EMULATOR_PORT": "0"}
        in_root(installed, "install", "-d", "-m", "700", "-o", user, f"/var/lib/{service['StateDirectory']}")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(str(installed / "tmp/notify"))
            (installed / "tmp/notify").chmod(0o777)
            manager.settimeout(STOP_TIMEOUT_S)
            command = ["chroot", str(installed), "setpriv", *options, service["ExecStart"]]
            environment = variables | {"PATH": PATH, "NOTIFY_SOCKET": "/tmp/notify"}
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
            try:
                assert process.stdout is not None
                ready = json.loads(process.stdout.readline())
                assert manager.recv(64) == b"READY=1"
                status = Path(f"/proc/{process.pid}/status").read_text()
                assert re.search(r"^Uid:\t(\d+)", status, re.M)[1] == in_root(installed, "id", "-u", user).strip()
                assert re.search(r"^CapBnd:\t0+$", status, re.M)
                yield ready["endpoint"]
            finally:
                process.terminate()
                assert process.wait(STOP_TIMEOUT_S) == 0
                (installed / "tmp/notify").unlink()

    return start


def client_of(endpoint: str, secret: str) -> Any:
    return boto3.client(
        "s3", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="penstock", aws_secret_access_key=secret
    )


@needs("debootstrap", "chroot", "setpriv")
@pytest.mark.timeout(1200)
def test_an_installed_service_keeps_its_objects_and_a_purge_leaves_only_them(
    installed: Path, started: Callable[[], AbstractContextManager[str]]
) -> None:
    secret_file = installed / SECRET
    assert secret_file.stat().st_mode & 0o777 == 0o600
    secret = secret_file.read_text()
    assert len(secret) > 30
    with started() as endpoint:
        client = client_of(endpoint, secret)
        client.create_bucket(Bucket="bucket")
        client.put_object(Bucket="bucket", Key="key", Body=b"kept")
        port = endpoint.rsplit(":", 1)[1]
        assert in_root(installed, "penstock-emulator", "health", "--port", port) == "healthy\n"
    # An installation over the present one keeps the secret and the data.
    in_root(installed, "apt-get", "install", "-y", "-q", "--reinstall", "/tmp/penstock-emulator.deb")
    assert secret_file.read_text() == secret
    with started() as endpoint:
        assert client_of(endpoint, secret).get_object(Bucket="bucket", Key="key")["Body"].read() == b"kept"

    in_root(installed, "dpkg", "--purge", "penstock-emulator")
    (installed / "tmp/penstock-emulator.deb").unlink()
    left = in_root(installed, "find", "/", "-xdev", "-name", "*penstock*", "-not", "-path", "/var/lib/penstock-emulator/*")
    assert left.split() == ["/var/lib/penstock-emulator"]
    run(EXECUTABLE, "fsck", installed / "var/lib/penstock-emulator")
