"""``penstock conformance`` by its command line: what cannot be run is told before the run, and what was run is not lost.

The client is boto3, for which nobody waits until torch is imported.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from penstock.__main__ import main

MINE = """
from penstock_conformance import Suite

suite = Suite("mine", "Mine", "Two checks, of which the user waits for one.")


@suite.check("first", "holds")
def first(trial):
    pass


@suite.check("second", "takes too long for its user")
def second(trial):
    raise KeyboardInterrupt
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A suite of one's own."""
    (tmp_path / "suite_of_mine.py").write_text(MINE)
    monkeypatch.syspath_prepend(tmp_path)
    return "suite_of_mine:suite"


@pytest.fixture
def nobody():
    """An endpoint at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    return f"http://127.0.0.1:{port}"


@pytest.fixture
def http_server():
    """Starts one that answers every request alike; its URL."""
    with contextlib.ExitStack() as stack:

        def start(status, body):
            class Answers(BaseHTTPRequestHandler):
                def do_GET(self):
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(body)))
                    if status == 302:
                        self.send_header("Location", "http://127.0.0.1:1/login")
                    self.end_headers()
                    self.wfile.write(body)

                def log_message(self, *_):
                    pass

            server = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Answers))
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.shutdown)
            return f"http://127.0.0.1:{server.server_port}"

        yield start


def at(emulator, **other):
    key = {"--access-key": emulator.access_key, "--secret-key": emulator.secret_key, "--client": "boto3", **other}
    return ["conformance", "--endpoint", emulator.endpoint, *(text for pair in key.items() for text in pair)]


def test_an_endpoint_that_does_not_answer_is_an_error_and_no_list_of_failures(nobody, mine, capsys):
    assert main(["conformance", "--endpoint", nobody, "--access-key", "a", "--secret-key", "b", "--client", "boto3", mine]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "onnection refused" in err


def test_a_key_that_nobody_has_is_an_error_and_no_list_of_failures(standalone, mine, capsys):
    assert main([*at(standalone, **{"--access-key": "NOBODY"}), mine]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "InvalidAccessKeyId" in err


@pytest.mark.parametrize(
    ("status", "body"),
    [(200, b"<html>Welcome</html>"), (200, b""), (302, b""), (404, b"<html>not found</html>"), (500, b"oops")],
)
def test_a_server_that_does_not_speak_s3_is_an_error_and_no_list_of_failures(http_server, mine, capsys, status, body):
    endpoint = http_server(status, body)
    assert main(["conformance", "--endpoint", endpoint, "--access-key", "a", "--secret-key", "b", "--client", "boto3", mine]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{endpoint} does not answer as S3 does" in err


@pytest.mark.parametrize(("path", "says"), [("missing/report.json", "there is no folder"), ("", "is a folder")])
def test_a_report_that_cannot_be_written_is_told_before_the_run(tmp_path, standalone, mine, capsys, path, says):
    assert main([*at(standalone), mine, "--json", str(tmp_path / path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err


def test_an_interrupted_run_reports_what_was_run(tmp_path, standalone, mine, capsys):
    assert main([*at(standalone), mine, "--json", str(tmp_path / "report.json"), "-v"]) == 130
    out, err = capsys.readouterr()
    assert "passed  mine/first [boto3]" in out
    assert "interrupted after 1 checks" in err
    document = json.loads((tmp_path / "report.json").read_text())
    assert document["interrupted"] is True
    assert [verdict["check"] for verdict in document["verdicts"]] == ["first"]


def test_a_check_that_ends_the_program_has_failed_and_the_others_are_run(tmp_path, monkeypatch, standalone, capsys):
    (tmp_path / "suite_that_ends.py").write_text(
        MINE.replace("pass\n", "raise SystemExit(0)\n").replace("KeyboardInterrupt", "OSError")
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert main([*at(standalone), "suite_that_ends:suite"]) == 1
    out, _ = capsys.readouterr()
    assert "FAILED  mine/first [boto3]: holds\n    SystemExit: 0" in out
    assert "FAILED  mine/second [boto3]" in out


def test_a_suite_that_ends_the_program_when_it_is_imported_is_an_error(tmp_path, monkeypatch, standalone, capsys):
    (tmp_path / "suite_that_is_a_program.py").write_text("raise SystemExit(0)\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert main([*at(standalone), "suite_that_is_a_program:suite"]) == 2
    assert "a suite or client ended the program, with 0" in capsys.readouterr().err


def test_a_client_without_a_version_is_an_error(tmp_path, monkeypatch, standalone, mine, capsys):
    (tmp_path / "client_of_mine.py").write_text(
        "from penstock_conformance.clients import Client\n\n\nclass Mine(Client):\n    name = 'mine'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert main([*at(standalone, **{"--client": "client_of_mine:Mine"}), mine]) == 2
    assert "'client_of_mine:Mine' does not say its version" in capsys.readouterr().err


def test_a_client_that_cannot_be_made_is_an_error(tmp_path, monkeypatch, standalone, mine, capsys):
    (tmp_path / "client_that_fails.py").write_text(
        "from penstock_conformance.clients import Client\n\n\nclass Mine(Client):\n    name = version = 'mine'\n\n"
        "    def __init__(self, access):\n        raise KeyError('no configuration')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert main([*at(standalone, **{"--client": "client_that_fails:Mine"}), mine]) == 2
    assert "the client Mine cannot be made: KeyError: 'no configuration'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--emulator", "--admin", "http://127.0.0.1:1"], "--admin: the emulator that --emulator starts has its own"),
        (["--emulator", "--access-key", "A", "--secret-key", "S"], "--access-key, --secret-key: the emulator that"),
        (["--emulator", "--region", "eu-west-1", "--admin-token", "T"], "--region, --admin-token: the emulator that"),
        (["--endpoint", "http://127.0.0.1:1", "--admin-token", "T"], "--admin-token is for the listener that --admin URL names"),
        (["--emulator", "--ca", "cert.pem"], "--ca: the emulator that --emulator starts has its own"),
        (["--emulator", "--only", ""], "--only '' is in every check's name"),
        (["--emulator", "--second-access-key", "a"], "--second-access-key and --second-secret-key belong together"),
    ],
)
def test_arguments_that_say_nothing_are_errors(mine, capsys, arguments, says):
    assert main(["conformance", *arguments, "--client", "boto3", mine]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err


def test_an_admin_listener_is_told_its_token(start_emulator, capsys):
    with start_emulator("--admin-token", "hush") as emulator:
        ask = [*at(emulator, **{"--admin": emulator.admin}), "express", "--only", "session-ends"]
        assert main([*ask, "--admin-token", "hush"]) == 0
        capsys.readouterr()
        assert main(ask) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "401" in err


@pytest.mark.parametrize(
    ("suite", "check", "says"),
    [
        ("express", "session-ends", "a clock"),
        ("retry", "get-object", "faults"),
        ("prefixes", "slowed-down", "limits of requests"),
    ],
)
def test_what_is_not_run_for_lack_of_an_admin_api_says_what_of_it(standalone, capsys, suite, check, says):
    assert main([*at(standalone), suite, "--only", f"{suite}/{check}"]) == 0
    out, _ = capsys.readouterr()
    assert f"(needs {says} that a check can set: a Penstock emulator, with --admin URL)" in out
