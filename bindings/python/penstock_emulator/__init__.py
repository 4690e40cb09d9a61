"""An S3 emulator for tests, offline: in this process, or as the program ``penstock-emulator``.

with penstock_emulator.Emulator() as s3:
    boto3.client("s3", endpoint_url=s3.endpoint, ...)

`emulated_s3` also sets the environment variables that direct clients to the emulator. For pytest there are fixtures
(`penstock_emulator.pytest_plugin`), which pytest loads without configuration. `penstock_emulator.simulate` simulates checkpoint
jobs in virtual time.

Needs nothing but Python's standard library. `Emulator.client` returns a client of the package ``penstock``, which is installed
separately.
"""

from __future__ import annotations

from ._clock import Clock
from ._core import __version__
from ._emulator import ACCESS_KEY_ID, SECRET_ACCESS_KEY, Emulator, Namespace, SeedReport, emulated_s3
from ._exceptions import ConflictError, EmulatorError, InvalidArgumentError, NotFoundError
from ._faults import FaultAccount, FaultDocument, Faults, RetryTest, RuleAccount
from ._journal import Journal
from ._journal_entry import Decision, Filter, JournalEntry, ObjectUse, RangeGroup, RangeReport, Retry, Signature

__all__ = [
    "ACCESS_KEY_ID",
    "SECRET_ACCESS_KEY",
    "Clock",
    "ConflictError",
    "Decision",
    "Emulator",
    "EmulatorError",
    "FaultAccount",
    "FaultDocument",
    "Faults",
    "Filter",
    "InvalidArgumentError",
    "Journal",
    "JournalEntry",
    "Namespace",
    "NotFoundError",
    "ObjectUse",
    "RangeGroup",
    "RangeReport",
    "Retry",
    "RetryTest",
    "RuleAccount",
    "SeedReport",
    "Signature",
    "__version__",
    "emulated_s3",
]
