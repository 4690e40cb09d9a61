"""Client for the admin API of a Penstock emulator: limits, clocks, faults and the request journal."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

TIMEOUT_S = 60


class Admin:
    """The admin listener of an emulator.

    Args:
        url: For example http://127.0.0.1:9001.
        namespace: The namespace to control.
        token: Value of the emulator's ``--admin-token``; empty if it has none.
    """

    def __init__(self, url: str, namespace: str = "default", token: str = "") -> None:
        self.url = url.rstrip("/")
        self.namespace = namespace
        self._token = token

    def request(self, method: str, path: str, document: Any = None) -> Any:
        """Sends a request, for example ``("GET", "limits/default")``, and returns the JSON of the response.

        Raises:
            OSError: there is no response, or it is an error, whose text is in the message.
        """
        body = None if document is None else json.dumps(document).encode()
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        request = urllib.request.Request(f"{self.url}/_penstock/{path}", data=body, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
                return json.loads(response.read() or b"null")
        except urllib.error.HTTPError as error:
            raise OSError(f"{method} {path}: status {error.code}: {error.read(300).decode(errors='replace')}") from None
        except urllib.error.URLError as error:
            raise OSError(
                f"cannot reach the admin listener {self.url} (penstock-emulator --admin-port): {error.reason}"
            ) from None

    def set_limits(self, limits: str | Mapping[str, Any] | None) -> None:
        """Sets a preset by name, or a document by docs/limits.schema.json. None removes all limits."""
        document = {"preset": limits} if isinstance(limits, str) else dict(limits or {})
        self.request("PUT", f"limits/{self.namespace}", document)

    def set_faults(self, rules: Any) -> None:
        """Sets a fault scenario (docs/reference/faults.md)."""
        self.request("PUT", f"faults/{self.namespace}", rules)

    def clear_faults(self) -> None:
        self.request("DELETE", f"faults/{self.namespace}?forget=true")

    def advance_clock(self, seconds: float) -> None:
        self.request("POST", f"clock/{self.namespace}", {"advance_seconds": seconds})

    def last_entry(self) -> int:
        """Number of the newest journal entry, for the filter ``after``."""
        return int(self.request("GET", f"journal/{self.namespace}?limit=0")["last"])

    def count(self, **filter: Any) -> int:
        """Number of journal entries that match a filter (docs/reference/admin-api.md)."""
        return int(self.request("POST", f"journal-query/{self.namespace}", {"question": "count", "filter": filter})["count"])
