"""Starts an emulator and sends requests to its admin API."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

EXECUTABLE = "emulator/server/penstock-emulator"
STOP_TIMEOUT_S = 30


@contextmanager
def running(*options: str) -> Iterator[dict[str, str]]:
    command = [str(Path(os.environ["PENSTOCK_BUILD_DIR"]) / EXECUTABLE), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        assert process.wait(STOP_TIMEOUT_S) == 0


def send(method: str, url: str, body: str | None = None) -> tuple[int, Any]:
    request = urllib.request.Request(url, data=body.encode() if body else None, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            text = response.read().decode()
            return response.status, json.loads(text) if response.headers.get_content_type() == "application/json" else text
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def parse_curl(line: str) -> tuple[str, str, str | None]:
    """Method, URL and body of a curl command of the examples: -s, -X METHOD, -d BODY and a URL."""
    method, body, url = "", None, ""
    words = iter(shlex.split(line)[1:])
    for word in words:
        if word == "-X":
            method = next(words)
        elif word == "-d":
            body = next(words)
        elif word != "-s":
            assert word.startswith("http"), f"the test does not know curl's {word}"
            url = word
    return method or ("POST" if body else "GET"), url, body


def curl(line: str) -> tuple[int, Any]:
    method, url, body = parse_curl(line)
    return send(method, url, body)
