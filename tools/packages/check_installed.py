"""Checks the installed wheels of this environment. tools/packages/check_wheels.sh runs it in a clean root.

`check_installed.py FOLDER`: FOLDER has cert.pem and key.pem for 127.0.0.1, and README pages, whose programs run if their imports
are installed. Prints one line per check; exits with 1 at the first that fails.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import penstock
import penstock_emulator

INPUTS = Path(sys.argv[1])
PROGRAM = Path(sys.executable).parent / "penstock-emulator"


@contextmanager
def served(*options: str) -> Iterator[str]:
    """Runs the installed program; yields its endpoint."""
    with subprocess.Popen([PROGRAM, "--port", "0", *options], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["endpoint"]
        finally:
            process.terminate()


def client(endpoint: str, **config: Any) -> penstock.S3Client:
    keys = {"access_key_id": penstock_emulator.ACCESS_KEY_ID, "secret_access_key": penstock_emulator.SECRET_ACCESS_KEY}
    return penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=penstock.S3ClientConfig(**keys, **config))


def round_trip(s3: penstock.S3Client) -> None:
    s3.create_bucket("data")
    body = os.urandom(20 << 20)  # in parts
    with s3.put_object("data", "folder/key") as writer:
        writer.write(body)
    assert s3.get_object("data", "folder/key").read() == body
    listed = [item.key for page in s3.list_objects("data", "folder/") for item in page.object_info]
    assert listed == ["folder/key"], listed


def versions() -> None:
    shown = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.split()
    assert shown == ["penstock-emulator", version("penstock")] == ["penstock-emulator", penstock.__version__], shown
    assert version("penstock-emulator") == penstock_emulator.__version__ == penstock.__version__


def program() -> None:
    with served() as endpoint:
        round_trip(client(endpoint))


def in_process() -> None:
    with penstock_emulator.Emulator() as s3:
        round_trip(s3.client())


def https() -> None:
    certificate = INPUTS / "cert.pem"
    with served("--tls-cert", str(certificate), "--tls-key", str(INPUTS / "key.pem")) as endpoint:
        round_trip(client(endpoint, ca_bundle_path=str(certificate)))
        for bundle, text in ((None, "was not accepted"), ("/no/such.pem", "AWS_CA_BUNDLE")):
            if bundle is not None:
                os.environ["SSL_CERT_FILE"] = bundle
            try:
                client(endpoint, max_attempts=1).create_bucket("other")
                raise AssertionError("an unknown certificate was accepted")
            except penstock.S3Exception as error:
                assert text in str(error), error
        os.environ["SSL_CERT_FILE"] = str(certificate)
        client(endpoint).create_bucket("other")
        del os.environ["SSL_CERT_FILE"]


def extras() -> None:
    if importlib.util.find_spec("torch") is not None:
        assert penstock.S3IterableDataset is not None
        return
    try:
        print(penstock.S3IterableDataset)
        raise AssertionError("a name that needs torch was found without torch")
    except ModuleNotFoundError as error:
        assert "penstock[torch]" in str(error), error


def commands() -> None:
    for command in (["-m", "penstock", "--version"], ["-m", "penstock", "simulate", "--help"]):
        subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)


def manuals() -> None:
    share = Path(sys.prefix, "share")
    pages = {page.stem for page in share.glob("man/man1/*.1")}
    assert pages >= {
        "penstock",
        "penstock-cp",
        "penstock-simulate",
        "penstock-emulator",
        "penstock-emulator-fsck",
        "penstock-emulator-health",
    }, pages
    script = share / "bash-completion/completions/penstock-emulator"
    subprocess.run(["bash", "-c", 'source "$0" && complete -p penstock-emulator >/dev/null', script], check=True)
    assert "compdef" in (share / "zsh/site-functions/_penstock-emulator").read_text(encoding="utf-8")
    assert "complete -c" in (share / "fish/vendor_completions.d/penstock-emulator.fish").read_text(encoding="utf-8")


def missing(program: str) -> set[str]:
    """Returns the packages and names that a program needs and does not have."""
    nodes = list(ast.walk(ast.parse(program)))
    read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    known = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    known |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    known |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    known |= {(node.asname or node.name).partition(".")[0] for node in nodes if isinstance(node, ast.alias)}
    imported = set(re.findall(r"^(?:import|from) (\w+)", program, re.M))
    return (read - known - set(dir(builtins))) | {name for name in imported if importlib.util.find_spec(name) is None}


def pages() -> None:
    """Runs the Python programs of each page that stand alone and whose imports this environment has."""
    for page in sorted(INPUTS.glob("*.md")):
        programs = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
        whole = [program for program in programs if not missing(program)]
        for program in whole:
            with tempfile.TemporaryDirectory() as folder, penstock_emulator.Emulator() as s3:
                file = Path(folder, "test_program.py")
                file.write_text(program, encoding="utf-8")
                pytest = ["-m", "pytest", "-q"] if re.search(r"^def test_", program, re.M) else []
                subprocess.run([sys.executable, *pytest, file], cwd=folder, env=dict(os.environ) | s3.environment(), check=True)
        print(f"  {page.name}: {len(whole)} of {len(programs)} programs ran")


CHECKS: tuple[Callable[[], None], ...] = (versions, program, in_process, https, extras, commands, manuals, pages)

if __name__ == "__main__":
    torch = "with" if importlib.util.find_spec("torch") else "without"
    print(f"CPython {sys.version.split()[0]}, penstock {penstock.__version__}, {torch} torch")
    for check in CHECKS:
        check()
        print(f"{check.__name__}: ok")
