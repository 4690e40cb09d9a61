"""``python -m penstock.compat PROGRAM [ARGUMENTS...]``: a program for the reference connector, on Penstock."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

from . import install

USAGE = """usage: python -m penstock.compat PROGRAM.py [ARGUMENT...]
       python -m penstock.compat -m MODULE [ARGUMENT...]

Runs a program written for s3torchconnector on Penstock, and so the Python processes that it starts."""


def main(arguments: list[str]) -> int:
    if arguments[:1] in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    is_module = arguments[:1] == ["-m"]
    program = arguments[1:] if is_module else arguments
    if not program or program[0].startswith("-"):
        print(f"{USAGE}\n\nno program given" if not program else f"{USAGE}\n\nunknown option {program[0]!r}", file=sys.stderr)
        return 2
    if not is_module and not Path(program[0]).exists():
        print(f"there is no file {program[0]!r}; for a module write -m {program[0]}", file=sys.stderr)
        return 2
    # Processes that this one starts find the stand-ins, which install() in them.
    shim = str(Path(__file__).parent / "shim")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [shim, os.environ.get("PYTHONPATH")]))
    install()
    sys.argv = program
    if is_module:
        sys.path[0] = str(Path.cwd())
        runpy.run_module(program[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(program[0]).resolve().parent)
        runpy.run_path(program[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
