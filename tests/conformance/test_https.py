"""An endpoint with a certificate of its own is judged like any other: a certificate is never a verdict on a client."""

from __future__ import annotations

import json

import pytest
from penstock.__main__ import main

# Of each way by which the suites reach the endpoint one check: raw requests, the store, the proxy, and clients without a proxy.
CHECKS = ("wire/ranges/part-first-nine", "sharding/uneven-counts", "express-client/session-tokens", "retry/get-object")


@pytest.fixture(scope="module")
def emulator(start_emulator, certificate):
    pem, key = certificate
    with start_emulator("--tls-cert", str(pem), "--tls-key", str(key)) as instance:
        yield instance


def ask(emulator, *more):
    keys = ["--access-key", emulator.access_key, "--secret-key", emulator.secret_key]
    return ["conformance", "--endpoint", emulator.endpoint, "--admin", emulator.admin, *keys, *more]


def chosen(*checks):
    return [*(check.partition("/")[0] for check in checks), *(text for check in checks for text in ("--only", check))]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("told_by", ["--ca", "AWS_CA_BUNDLE"])
def test_the_suites_trust_the_certificate_that_they_are_told(tmp_path, monkeypatch, emulator, certificate, told_by):
    report = tmp_path / "report.json"
    if told_by == "AWS_CA_BUNDLE":
        monkeypatch.setenv("AWS_CA_BUNDLE", str(certificate[0]))
    told = ["--ca", str(certificate[0])] if told_by == "--ca" else []
    clients = ["--client", "penstock", "--client", "boto3", "--client", "s3torchconnector"]
    main([*ask(emulator, *told, *clients, "--json", str(report)), *chosen(*CHECKS)])
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
        ("retry", "s3torchconnector"): "not run",  # it cannot be told what to trust, and goes through no proxy here
    }


@pytest.mark.parametrize("told", [[], ["--ca", "/no-such-certificate.pem"], ["--ca", __file__]], ids=["none", "missing", "other"])
def test_a_certificate_that_is_not_trusted_is_an_error_and_no_list_of_failures(emulator, capsys, told):
    assert main([*ask(emulator, *told, "--client", "boto3"), *chosen("retry/get-object")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "certificate" in err
    assert all(path in err for path in told[1:])


def test_a_key_that_nobody_has_is_an_error_over_https_too(emulator, certificate, capsys):
    wrong = ["--secret-key", "wrong", "--ca", str(certificate[0]), "--client", "boto3"]
    assert main([*ask(emulator, *wrong), *chosen("wire/ranges/part-first-nine")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "SignatureDoesNotMatch" in err
