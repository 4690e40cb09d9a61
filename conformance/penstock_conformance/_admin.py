"""The admin API of a Penstock emulator: limits, clocks, faults and the journal of the endpoint under test."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

TIMEOUT_S = 60


class Admin:
    """Asks the admin listener of an emulator.

    Args:
        url: Such as http://127.0.0.1:9001.
        namespace: Whose limits, clock, faults and journal.
        token: Of ``--admin-token``; empty: none.
    """

    def __init__(self, url: str, namespace: str = "default", token: str = "") -> None:
        self.url = url.rstrip("/")
        self.namespace = namespace
        self._token = token

    def ask(self, method: str, path: str, document: Any = None) -> Any:
        """One question, such as ``("GET", "limits/default")``; its answer's JSON.

        Raises:
            OSError: no answer, or a refusal, whose text is in the message.
        """
        body = None if document is None else json.dumps(document).encode()
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        request = urllib.request.Request(f"{self.url}/_penstock/{path}", data=body, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            raise OSError(f"{method} {path} was answered {error.code}: {error.read(300).decode(errors='replace')}") from None
        except urllib.error.URLError as error:
            raise OSError(
                f"no answer from the admin listener {self.url}, which `penstock-emulator --admin-port` opens: {error.reason}"
            ) from None

    def set_limits(self, limits: str | Mapping[str, Any] | None) -> None:
        """A preset's name, a document as in docs/limits.schema.json, or None: none."""
        document = {"preset": limits} if isinstance(limits, str) else dict(limits or {})
        self.ask("PUT", f"limits/{self.namespace}", document)

    def set_faults(self, rules: Any) -> None:
        """A scenario, as in docs/faults.md."""
        self.ask("PUT", f"faults/{self.namespace}", rules)

    def clear_faults(self) -> None:
        self.ask("DELETE", f"faults/{self.namespace}?forget=true")

    def advance_clock(self, seconds: float) -> None:
        self.ask("POST", f"clock/{self.namespace}", {"advance_seconds": seconds})

    def last_entry(self) -> int:
        """The number of the journal's last entry, for ``after``."""
        return int(self.ask("GET", f"journal/{self.namespace}?limit=0")["last"])

    def count(self, **filter: Any) -> int:
        """How many requests of the journal a filter selects; its members as in docs/admin-api.md."""
        return int(self.ask("POST", f"journal-query/{self.namespace}", {"question": "count", "filter": filter})["count"])
