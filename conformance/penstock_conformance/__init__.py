"""Conformance suites for S3 servers and S3 clients.

``python -m penstock_conformance --endpoint URL [SUITE...]`` runs them; docs/how-to/conformance.md describes each suite. A
custom suite:

    from penstock_conformance import Suite, Trial

    suite = Suite("naming", "Names", "Object keys with special characters.")

    @suite.check("round-trip", "an object that was written reads back unchanged")
    def _(trial: Trial) -> None:
        bucket = trial.bucket()
        trial.store.put(bucket, "key", b"text")
        trial.expect(trial.store.get(bucket, "key") == b"text", "the bytes read differ from the bytes written")
"""

from __future__ import annotations

from ._access import Access
from ._bench import Bench
from ._records import Record, Records
from ._report import Report
from ._run import run
from ._store import client_config
from ._suite import Check, Suite, Trial
from ._verdict import Chart, Failed, NotRun, Table, Verdict

__all__ = [
    "Access",
    "Bench",
    "Chart",
    "Check",
    "Failed",
    "NotRun",
    "Record",
    "Records",
    "Report",
    "Suite",
    "Table",
    "Trial",
    "Verdict",
    "client_config",
    "run",
]
