"""Conformance suites: what holds for any S3 client, and for any S3 server, tried and reported.

``penstock conformance --endpoint URL [SUITE...]`` runs them; docs/conformance.md says how, and what each asks. A suite of your
own takes the names below:

    from penstock_conformance import Suite, Trial

    suite = Suite("naming", "Names", "What this is about.")

    @suite.check("round-trip", "what was written is what is read")
    def _(trial: Trial) -> None:
        bucket = trial.bucket()
        trial.store.put(bucket, "key", b"text")
        trial.expect(trial.store.get(bucket, "key") == b"text", "other bytes came back")
"""

from __future__ import annotations

from ._bench import Access, Bench, run
from ._records import Record, Records
from ._report import Report
from ._store import client_config
from ._suite import Chart, Check, Failed, NotRun, Suite, Table, Trial, Verdict

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
