"""fsspec's own test suites, run with PenstockFileSystem: copy, get, put, exclusive open and pipe."""

from __future__ import annotations

import pytest
from file_systems import file_system
from fsspec.tests import abstract


class Fixtures(abstract.AbstractFixtures):
    @pytest.fixture(params=[True, False], ids=["remembered", "as-on-s3"])
    def supports_empty_directories(self, request):
        return request.param

    @pytest.fixture
    def fs(self, emulator, supports_empty_directories):
        return file_system(emulator, remember_directories=supports_empty_directories)

    @pytest.fixture
    def fs_path(self, bucket):
        return bucket

    @pytest.fixture
    def fs_join(self):
        return lambda *names: "/".join(names)


class TestCopy(abstract.AbstractCopyTests, Fixtures):
    pass


class TestGet(abstract.AbstractGetTests, Fixtures):
    pass


class TestPut(abstract.AbstractPutTests, Fixtures):
    pass


class TestOpen(abstract.AbstractOpenTests, Fixtures):
    pass


class TestPipe(abstract.AbstractPipeTests, Fixtures):
    pass
