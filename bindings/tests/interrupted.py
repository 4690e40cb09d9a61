"""Runs a Python program and sends it SIGINT while it waits."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap

# Shells start background processes with SIGINT ignored, and children inherit that.
PREAMBLE = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"

# The start of a program: a server that accepts connections and never responds, and a client of it.
SILENT_SERVER = """
    import socket, sys, threading, penstock
    listener = socket.create_server(("127.0.0.1", 0))
    config = penstock.S3ClientConfig(force_path_style=True, access_key_id="a", secret_access_key="b")
    endpoint = f"http://127.0.0.1:{listener.getsockname()[1]}"
    client = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=config)
    ranged = penstock.S3ReaderConstructor.range_based()
    settings = {"region": "us-east-1", "endpoint": endpoint, "s3client_config": config}
    printed = threading.Event()
    def hold(connection):
        connection.recv(1)
        if not printed.is_set():
            printed.set()
            print("waiting", flush=True)
        threading.Event().wait()
    def accept():
        while True:
            threading.Thread(target=hold, args=(listener.accept()[0],), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()
"""


def exit_status(program: str, timeout_s: float) -> int:
    """Runs `program`, sends SIGINT once it has printed "waiting", and returns its exit status."""
    command = [sys.executable, "-c", PREAMBLE + textwrap.dedent(program)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "waiting\n"
            process.send_signal(signal.SIGINT)
            return process.wait(timeout=timeout_s)
        finally:
            process.kill()
