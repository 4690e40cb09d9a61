"""The web console and the admin API of pages: the option of penstock_emulator.Emulator."""

from __future__ import annotations

import http.client
from urllib.parse import urlsplit

import pytest
from penstock_emulator import Emulator


def get(emulator: Emulator, path: str, **headers: str) -> tuple[int, dict[str, str]]:
    connection = http.client.HTTPConnection(urlsplit(emulator.admin_endpoint).netloc, timeout=10)
    try:
        connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        response.read()
        return response.status, dict(response.getheaders())
    finally:
        connection.close()


def test_the_console_is_served_unless_it_is_off() -> None:
    with Emulator() as emulator:
        status, headers = get(emulator, "/console/", Accept_Encoding="gzip")
        assert status in (200, 503)  # 503: the emulator was built before the console
        assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
        assert get(emulator, "/_penstock/users", Sec_Fetch_Site="same-origin")[0] == 200
        assert get(emulator, "/_penstock/users", Sec_Fetch_Site="same-site")[0] == 403
    with Emulator(console=False) as emulator:
        assert get(emulator, "/console/")[0] == 404
        assert get(emulator, "/_penstock/users", Sec_Fetch_Site="same-origin")[0] == 403


def test_the_option_has_one_type() -> None:
    with pytest.raises(TypeError, match="console must be bool, not str"):
        Emulator(console="off")  # type: ignore[arg-type]
