"""The names of the package `penstock_emulator`: tests without AWS.

with penstock.testing.Emulator() as s3:
    client = s3.client()
    client.create_bucket("data")
"""

from __future__ import annotations

try:
    from penstock_emulator import *  # noqa: F403
    from penstock_emulator import __all__  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "penstock_emulator":
        raise
    raise ModuleNotFoundError(
        "penstock.testing needs the emulator, which is not installed; run pip install penstock-emulator", name=error.name
    ) from None
