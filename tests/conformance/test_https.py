"""Endpoints with a private certificate: a certificate problem is an error of the run, never a failed check of a client."""

from __future__ import annotations

import json

import pytest
from penstock.__main__ import main

# One check for each way to reach the endpoint: raw requests, the store, the proxy, and clients without the proxy.
CHECKS = ("wire/ranges/part-first-nine", "sharding/uneven-counts", "express-client/session-tokens", "retry/get-object")


@pytest.fixture(scope="module")
def emulator(start_emulator, certificate):
    pem, key = certificate
    with start_emulator("--tls-cert", str(pem), "--tls-key", str(key)) as instance:
        yield instance


def arguments_for(emulator, *more):
    keys = ["--access-key", emulator.access_key, "--secret-key", emulator.secret_key]
    return ["conformance", "--endpoint", emulator.endpoint, "--admin", emulator.admin, *keys, *more]


def chosen(*checks):
    return [*(check.partition("/")[0] for check in checks), *(text for check in checks for text in ("--only", check))]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("setting", ["--ca", "AWS_CA_BUNDLE"])
def test_the_suites_trust_the_given_certificate(tmp_path, monkeypatch, emulator, certificate, setting):
    report = tmp_path / "report.json"
    if setting == "AWS_CA_BUNDLE":
        monkeypatch.setenv("AWS_CA_BUNDLE", str(certificate[0]))
    ca = ["--ca", str(certificate[0])] if setting == "--ca" else []
    clients = ["--client", "penstock", "--client", "boto3", "--client", "s3torchconnector"]
    main([*arguments_for(emulator, *ca, *clients, "--json", str(report)), *chosen(*CHECKS)])
    found = {(v["suite"], v["client"]): v["outcome"] for v in json.loads(report.read_text())["verdicts"]}
    assert found == {
        ("wire", ""): "passed",
        ("sharding", "penstock"): "passed",
        ("sharding", "boto3"): "not run",  # it has no datasets
        ("sharding", "s3torchconnector"): "passed",
        ("express-client", "penstock"): "passed",
        ("express-client", "boto3"): "passed",
        ("express-client", "s3torchconnector"): "passed",
        ("retry", "penstock"): "passed",
        ("retry", "boto3"): "passed",
        ("retry", "s3torchconnector"): "not run",  # it has no setting for a CA certificate, and this suite does not use the proxy
    }


@pytest.mark.parametrize("ca", [[], ["--ca", "/no-such-certificate.pem"], ["--ca", __file__]], ids=["none", "missing", "other"])
def test_an_untrusted_certificate_is_an_error_and_not_a_failed_check(emulator, capsys, ca):
    assert main([*arguments_for(emulator, *ca, "--client", "boto3"), *chosen("retry/get-object")]) == (2 if __file__ in ca else 1)
    out, err = capsys.readouterr()
    assert out == ""
    assert "certificate" in err
    assert all(path in err for path in ca[1:])


def test_a_wrong_secret_key_is_an_error_over_https_too(emulator, certificate, capsys):
    wrong = ["--secret-key", "wrong", "--ca", str(certificate[0]), "--client", "boto3"]
    assert main([*arguments_for(emulator, *wrong), *chosen("wire/ranges/part-first-nine")]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "SignatureDoesNotMatch" in err
