"""``python -m penstock.compat PROGRAM [ARGUMENTS...]``: runs a program on Penstock unchanged."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

from . import install

USAGE = """usage: python -m penstock.compat PROGRAM.py [ARGUMENT...]
       python -m penstock.compat -m MODULE [ARGUMENT...]

Runs a program written for s3torchconnector, for the S3 DataPipes of torchdata or for the Amazon S3 plugin for PyTorch (awsio),
and the Python processes that it starts, on Penstock."""


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
        print(f"no file {program[0]!r}; to run a module, use -m {program[0]}", file=sys.stderr)
        return 2
    # Child processes import the modules in shim/ by the replaced names; these call install(). Those that multiprocessing spawns
    # take sys.path from this process.
    shim = str(Path(__file__).with_name("shim"))
    sys.path.insert(1, shim)
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
