"""Runs a Python program and sends it SIGINT while it waits."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap

# Shells start background processes with SIGINT ignored, and children inherit that.
PREAMBLE = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


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
