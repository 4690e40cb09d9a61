"""The command line of the suites: errors are reported before the run, and an interrupted run keeps its results.

The client is boto3, because it does not import torch, which takes seconds.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from penstock.__main__ import main
from penstock_conformance.__main__ import main as conformance_main

SUITE = """
from penstock_conformance import Suite

suite = Suite("custom", "Custom", "Two checks; the second is interrupted.")


@suite.check("first", "holds")
def first(trial):
    pass


@suite.check("second", "is interrupted by the user")
def second(trial):
    raise KeyboardInterrupt
"""
ARGUMENTS = ["conformance", "--access-key", "a", "--secret-key", "b", "--client", "boto3"]


@pytest.fixture
def custom(tmp_path, monkeypatch):
    """A suite by MODULE:ATTRIBUTE."""
    (tmp_path / "suite_of_user.py").write_text(SUITE)
    monkeypatch.syspath_prepend(tmp_path)
    return "suite_of_user:suite"


@pytest.fixture
def closed_endpoint():
    """An endpoint that refuses connections."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    return f"http://127.0.0.1:{port}"


@pytest.fixture
def http_server():
    """Starts a server with one response for all requests; returns its URL."""
    with contextlib.ExitStack() as stack:

        def start(status, body):
            class Responder(BaseHTTPRequestHandler):
                def do_GET(self):
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(body)))
                    if status == 302:
                        self.send_header("Location", "http://127.0.0.1:1/login")
                    self.end_headers()
                    self.wfile.write(body)

                def log_message(self, *_):
                    pass

            server = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Responder))
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.shutdown)
            return f"http://127.0.0.1:{server.server_port}"

        yield start


def arguments_for(emulator, **other):
    key = {"--access-key": emulator.access_key, "--secret-key": emulator.secret_key, "--client": "boto3", **other}
    return ["conformance", "--endpoint", emulator.endpoint, *(text for pair in key.items() for text in pair)]


def test_an_unreachable_endpoint_is_an_error_and_not_a_failed_check(closed_endpoint, custom, capsys):
    assert (
        main(
            [
                "conformance",
                "--endpoint",
                closed_endpoint,
                "--access-key",
                "a",
                "--secret-key",
                "b",
                "--client",
                "boto3",
                custom,
            ]
        )
        == 1
    )
    out, err = capsys.readouterr()
    assert out == ""
    assert "onnection refused" in err


def test_an_unknown_access_key_is_an_error_and_not_a_failed_check(standalone, custom, capsys):
    assert main([*arguments_for(standalone, **{"--access-key": "UNKNOWN"}), custom]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "InvalidAccessKeyId" in err


@pytest.mark.parametrize(
    ("status", "body"),
    [(200, b"<html>Welcome</html>"), (200, b""), (302, b""), (404, b"<html>not found</html>"), (500, b"oops")],
)
def test_a_server_that_is_not_s3_is_an_error_and_not_a_failed_check(http_server, custom, capsys, status, body):
    endpoint = http_server(status, body)
    assert (
        main(["conformance", "--endpoint", endpoint, "--access-key", "a", "--secret-key", "b", "--client", "boto3", custom]) == 1
    )
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{endpoint} does not respond like S3" in err


@pytest.mark.parametrize(("path", "says"), [("missing/report.json", "does not exist"), ("", "is a directory")])
def test_a_report_that_cannot_be_written_is_an_error_before_the_run(tmp_path, standalone, custom, capsys, path, says):
    assert main([*arguments_for(standalone), custom, "--json", str(tmp_path / path)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err


def test_the_json_report_on_standard_output_is_alone_there(standalone, custom, capsys):
    assert main([*arguments_for(standalone), custom, "--only", "first", "--json", "-", "-v"]) == 0
    out, err = capsys.readouterr()
    assert [verdict["check"] for verdict in json.loads(out)["verdicts"]] == ["first"]
    assert "passed  custom/first [boto3]" in err
    assert main(["conformance", "--list", "--json", "-"]) == 0
    out, err = capsys.readouterr()
    assert [f"{each['suite']} " in err and each["about"] in err for each in json.loads(out)] == [True] * len(err.splitlines())


def test_an_interrupted_run_reports_its_results(tmp_path, standalone, custom, capsys):
    assert main([*arguments_for(standalone), custom, "--json", str(tmp_path / "report.json"), "-v"]) == 130
    out, err = capsys.readouterr()
    assert "passed  custom/first [boto3]" in out
    assert "interrupted after 1 checks" in err
    document = json.loads((tmp_path / "report.json").read_text())
    assert document["interrupted"] is True
    assert [verdict["check"] for verdict in document["verdicts"]] == ["first"]


def test_a_check_that_raises_system_exit_fails_and_the_others_run(tmp_path, monkeypatch, standalone, capsys):
    (tmp_path / "suite_that_ends.py").write_text(
        SUITE.replace("pass\n", "raise SystemExit(0)\n").replace("KeyboardInterrupt", "OSError")
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert main([*arguments_for(standalone), "suite_that_ends:suite"]) == 1
    out, _ = capsys.readouterr()
    assert "FAILED  custom/first [boto3]: holds\n    SystemExit: 0" in out
    assert "FAILED  custom/second [boto3]" in out


def test_a_suite_whose_import_raises_system_exit_is_an_error(tmp_path, monkeypatch, standalone, capsys):
    (tmp_path / "suite_that_is_a_program.py").write_text("raise SystemExit(0)\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert main([*arguments_for(standalone), "suite_that_is_a_program:suite"]) == 1
    assert "a suite or client called sys.exit with 0" in capsys.readouterr().err


def test_a_client_without_a_version_is_an_error(tmp_path, monkeypatch, standalone, custom, capsys):
    (tmp_path / "client_of_user.py").write_text(
        "from penstock_conformance.clients import Client\n\n\nclass Custom(Client):\n    name = 'custom'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert main([*arguments_for(standalone, **{"--client": "client_of_user:Custom"}), custom]) == 2
    assert "'client_of_user:Custom' does not define version" in capsys.readouterr().err


def test_a_client_of_a_missing_module_is_an_error(standalone, custom, capsys):
    assert main([*arguments_for(standalone, **{"--client": "nomod:X"}), custom]) == 2
    assert "client 'nomod:X': there is no module 'nomod'; install it, or give MODULE:CLASS" in capsys.readouterr().err


def test_a_client_whose_constructor_fails_is_an_error(tmp_path, monkeypatch, standalone, custom, capsys):
    (tmp_path / "client_that_fails.py").write_text(
        "from penstock_conformance.clients import Client\n\n\nclass Custom(Client):\n    name = version = 'custom'\n\n"
        "    def __init__(self, access):\n        raise KeyError('no configuration')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert main([*arguments_for(standalone, **{"--client": "client_that_fails:Custom"}), custom]) == 1
    assert "cannot create the client Custom: KeyError: 'no configuration'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--emulator", "--admin", "http://127.0.0.1:1"], "--admin: not allowed with --emulator"),
        (["--emulator", "--access-key", "A", "--secret-key", "S"], "--access-key, --secret-key: not allowed with --emulator"),
        (["--emulator", "--region", "eu-west-1", "--admin-token", "T"], "--region, --admin-token: not allowed with --emulator"),
        (["--endpoint", "http://127.0.0.1:1", "--admin-token", "T"], "--admin-token needs --admin URL"),
        (["--emulator", "--ca", "cert.pem"], "--ca: not allowed with --emulator"),
        (["--emulator", "--only", ""], "--only '' matches every check"),
        (["--emulator", "--second-access-key", "a"], "--second-access-key and --second-secret-key must be given together"),
    ],
)
def test_options_that_conflict_or_have_no_effect_are_errors(custom, capsys, arguments, says):
    assert main(["conformance", *arguments, "--client", "boto3", custom]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err


def test_the_admin_token_is_sent(start_emulator, capsys):
    with start_emulator("--admin-token", "hush") as emulator:
        command = [*arguments_for(emulator, **{"--admin": emulator.admin}), "express", "--only", "session-ends"]
        assert main([*command, "--admin-token", "hush"]) == 0
        capsys.readouterr()
        assert main(command) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "401" in err


@pytest.mark.parametrize(
    ("suite", "check", "says"),
    [
        ("express", "session-ends", "the clock"),
        ("retry", "get-object", "faults"),
        ("prefixes", "slowed-down", "request limits"),
    ],
)
def test_the_reason_names_what_a_check_needs_of_the_admin_api(standalone, capsys, suite, check, says):
    assert main([*arguments_for(standalone), suite, "--only", f"{suite}/{check}"]) == 0
    out, _ = capsys.readouterr()
    assert f"(needs control of {says}: a Penstock emulator with --admin URL)" in out


def test_the_sub_command_of_penstock_behaves_like_the_own_command(closed_endpoint, custom, capsys):
    assert conformance_main([*ARGUMENTS[1:], "--endpoint", closed_endpoint, custom]) == main(
        [*ARGUMENTS, "--endpoint", closed_endpoint, custom]
    )
    own, alias = (line.partition(": ") for line in capsys.readouterr().err.splitlines())
    assert (own[0], alias[0]) == ("penstock-conformance", "penstock conformance")
    assert own[2] == alias[2]
