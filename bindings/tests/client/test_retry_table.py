"""The retry table is complete and matches docs/reference/retries.md."""

from __future__ import annotations

from pathlib import Path

from penstock_conformance.retry import rules, verbs

DOCUMENT = Path(__file__).resolve().parents[3] / "docs/reference/retries.md"


def test_the_published_table_matches_the_rules():
    assert rules.table() in DOCUMENT.read_text(encoding="utf-8")


def test_each_failure_applies_to_a_verb_and_each_verb_has_all_kinds_of_failures():
    for failure in rules.FAILURES:
        assert any(rules.applies(verb, failure) for verb in rules.VERBS)
    for verb in rules.VERBS:
        kinds = {failure.means for failure in rules.FAILURES if rules.applies(verb, failure)}
        assert kinds >= {rules.NOT_DONE, rules.UNKNOWN, rules.REFUSED, rules.UNDECIDED}
    assert {verb.name for verb in rules.VERBS} >= set(verbs.DONE) | set(verbs.READS)


def test_rejected_requests_are_not_retried_and_unexecuted_ones_are():
    by_name = {(v.name, f.name): rules.rule(v, f) for v in rules.VERBS for f in rules.FAILURES if rules.applies(v, f)}
    assert by_name["PutObject", "slow-down"].retry == "must"
    assert by_name["PutObject", "access-denied"].retry == "must not"
    assert by_name["PutObject", "ack-lost"].retry == "must"
    assert by_name["PutObject, If-None-Match", "ack-lost"].retry == "may"
    assert by_name["PutObject, append", "ack-lost"].retry == "may"
    assert by_name["RenameObject", "ack-lost"].retry == "must"
    assert by_name["RenameObject", "invalid-key"].retry == "may"
    assert by_name["CreateSession", "invalid-key"].retry == "must not"
    assert by_name["HeadObject", "request-timeout"].retry == "may"
    assert all(rule.done is False for rule in by_name.values() if rule.retry == "must not")
    assert all(rule.done for rule in by_name.values() if rule.retry == "must")
    assert all(rule.why for rule in by_name.values())
