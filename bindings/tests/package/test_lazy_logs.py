"""Messages of modules that import ``logging`` late."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest
from penstock._logs import Logger

LEVELS = ("debug", "info", "warning", "exception")


@pytest.mark.parametrize("level", LEVELS)
def test_lazy_loggers_name_their_caller(caplog, level):
    caplog.set_level(logging.DEBUG, logger="penstock.some")
    getattr(Logger("penstock.some"), level)("%s of %d", "one", 3)
    (record,) = caplog.records
    assert (record.name, record.message) == ("penstock.some", "one of 3")
    assert record.levelname == {"exception": "ERROR"}.get(level, level.upper())
    assert record.pathname == __file__


IMPORTS = """
import sys
from penstock._logs import Logger
log = Logger("penstock.some")
log.debug("not shown")
log.info("not shown")
print("logging" in sys.modules)
log.warning("to %s", "stderr")
"""


def test_messages_below_warnings_do_not_import_logging():
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, timeout=100, check=True)
    assert (done.stdout, done.stderr) == ("False\n", "to stderr\n")


def test_file_commands_start_without_logging_and_rare_results():
    code = (
        "import sys; from penstock._client import S3Client; import penstock.requests._results; "
        "print([m for m in ('logging', 'penstock.requests._rare_results') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout == "[]\n"
