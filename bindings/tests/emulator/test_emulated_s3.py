"""emulated_s3: an emulator during a block, a function or a test case."""

from __future__ import annotations

import asyncio
import functools
import os
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from penstock.testing import Emulator, emulated_s3


def test_clients_use_the_emulator_only_inside_the_block(monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with emulated_s3(region="eu-west-1") as s3:
        boto3.client("s3").create_bucket(Bucket="data", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
        assert s3.stats()["requests"] == {"CreateBucket": 1}
    assert os.environ["AWS_PROFILE"] == "production"
    assert "AWS_ENDPOINT_URL" not in os.environ


def test_a_failed_block_restores_the_environment(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "mine")
    with pytest.raises(RuntimeError, match="inside"), emulated_s3():
        raise RuntimeError("inside")
    assert os.environ["AWS_ACCESS_KEY_ID"] == "mine"


def count_in_environment() -> int:
    boto3.client("s3").create_bucket(Bucket="data")
    return len(boto3.client("s3").list_buckets()["Buckets"])


count_buckets = emulated_s3()(count_in_environment)


def test_each_call_of_a_decorated_function_has_a_new_emulator():
    assert [count_buckets(), count_buckets()] == [1, 1]


class Case(unittest.TestCase):
    def setUp(self) -> None:
        context = emulated_s3()
        self.s3 = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)

    def test_upload(self) -> None:
        boto3.client("s3").create_bucket(Bucket="data")
        self.assertEqual(self.s3.stats()["requests"], {"CreateBucket": 1})


@emulated_s3(region="eu-west-1")
class DecoratedCase(unittest.TestCase):
    def setUp(self) -> None:
        self.client = boto3.client("s3")  # the environment is already set

    def test_is_empty(self) -> None:
        self.assertEqual(self.client.list_buckets()["Buckets"], [])
        self.client.create_bucket(Bucket="data", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})

    test_is_empty_again = test_is_empty

    def test_fails(self) -> None:
        if os.environ.get("FAIL_IN_CASE"):
            self.fail("as it should")


def test_each_test_of_a_decorated_test_case_has_its_own_emulator(monkeypatch):
    def run() -> unittest.TestResult:
        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromTestCase(DecoratedCase).run(result)
        return result

    first = run()
    assert (first.testsRun, first.failures, first.errors) == (3, [], [])
    monkeypatch.setenv("FAIL_IN_CASE", "1")
    assert ["as it should" in text for _, text in run().failures] == [True]
    assert "AWS_ENDPOINT_URL" not in os.environ


def test_a_decorated_test_case_fails_if_a_planned_fault_did_not_fire():
    @emulated_s3(faults=[{"when": {"operation": "PutObject"}, "do": {"slow_down": {}}, "limit": {"times": 1}}])
    class Case(unittest.TestCase):
        def test_never_puts(self) -> None:
            boto3.client("s3").list_buckets()

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(result)
    assert "planned did not happen" in result.failures[0][1]


def test_the_test_methods_of_a_plain_class_are_decorated():
    @emulated_s3()
    class TestUpload:
        def test_it(self) -> dict[str, int]:
            return emulated_requests()

        def helper(self) -> str | None:
            return os.environ.get("AWS_ENDPOINT_URL")

    def emulated_requests() -> dict[str, int]:
        boto3.client("s3").create_bucket(Bucket="data")
        return {"buckets": len(boto3.client("s3").list_buckets()["Buckets"])}

    before = os.environ.get("AWS_ENDPOINT_URL")
    assert [TestUpload().test_it(), TestUpload().test_it()] == [{"buckets": 1}] * 2
    assert TestUpload().helper() == before


@emulated_s3()
class TestEveryKindOfMethod:
    class TestNested:
        def test_nested(self) -> str | None:
            return os.environ.get("AWS_ACCESS_KEY_ID")

    def test_method(self) -> str | None:
        return os.environ.get("AWS_ACCESS_KEY_ID")

    @staticmethod
    def test_static() -> str | None:
        return os.environ.get("AWS_ACCESS_KEY_ID")

    @classmethod
    def test_class(cls) -> str | None:
        assert cls.__name__ == "TestEveryKindOfMethod"
        return os.environ.get("AWS_ACCESS_KEY_ID")

    async def test_coroutine(self) -> str | None:
        return os.environ.get("AWS_ACCESS_KEY_ID")

    @staticmethod
    async def test_static_coroutine() -> str | None:
        return os.environ.get("AWS_ACCESS_KEY_ID")

    @classmethod
    async def test_class_coroutine(cls) -> str | None:
        return os.environ.get("AWS_ACCESS_KEY_ID")

    test_partial = functools.partialmethod(test_method)
    test_callable = functools.partial(os.environ.get, "AWS_ACCESS_KEY_ID")


TestEveryKindOfMethod.__test__ = False  # the tests below call its methods


def test_static_class_and_asynchronous_methods_of_a_plain_class_are_decorated(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "mine")
    tests = TestEveryKindOfMethod()
    for name in [name for name in dir(tests) if name.startswith("test_")]:
        for owner in (tests, TestEveryKindOfMethod):
            if owner is TestEveryKindOfMethod and not name.startswith(("test_static", "test_class", "test_callable")):
                continue
            seen = getattr(owner, name)()
            assert (asyncio.run(seen) if asyncio.iscoroutine(seen) else seen) == "penstock", (owner, name)
    assert os.environ["AWS_ACCESS_KEY_ID"] == "mine"


def test_nested_test_classes_of_a_plain_class_are_decorated(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "mine")
    assert TestEveryKindOfMethod.TestNested().test_nested() == "penstock"


class InheritedTests:
    __test__ = False

    def test_inherited(self) -> str | None:
        return os.environ.get("AWS_ACCESS_KEY_ID")

    @classmethod
    def test_inherited_class(cls) -> tuple[str, str | None]:
        return cls.__name__, os.environ.get("AWS_ACCESS_KEY_ID")

    def helper(self) -> str | None:
        return os.environ.get("AWS_ACCESS_KEY_ID")


def test_inherited_test_methods_are_decorated_in_the_subclass_only(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "mine")

    @emulated_s3()
    class TestDerived(InheritedTests):
        __test__ = True

    assert (TestDerived().test_inherited(), TestDerived().helper()) == ("penstock", "mine")
    assert TestDerived.test_inherited_class() == ("TestDerived", "penstock")
    assert InheritedTests().test_inherited() == "mine"


def test_a_class_decorated_twice_uses_the_inner_emulator(monkeypatch):
    @emulated_s3(region="eu-west-1")
    @emulated_s3(region="eu-west-2")
    class TestTwice:
        @staticmethod
        def test_region() -> str:
            return os.environ["AWS_REGION"]

    assert TestTwice.test_region() == "eu-west-2"


@pytest.mark.parametrize("kind", [staticmethod, classmethod, lambda function: function])
def test_a_generator_among_the_test_methods_is_refused(kind):
    def generate(*_):
        yield 1

    with pytest.raises(TypeError, match=r"cannot decorate <function .*generate.*use `with emulated_s3"):
        emulated_s3()(type("TestGenerator", (), {"test_it": kind(generate)}))


def test_attributes_of_a_plain_class_that_are_not_tests_are_kept():
    @emulated_s3()
    class TestData:
        test_data = ({"name": "value"},)
        test_error = ValueError

        @property
        def test_key(self) -> str | None:
            return os.environ.get("AWS_ACCESS_KEY_ID")

    before = os.environ.get("AWS_ACCESS_KEY_ID")
    assert (TestData.test_data, TestData.test_error, TestData().test_key) == (({"name": "value"},), ValueError, before)


def test_markers_of_static_methods_are_kept():
    @emulated_s3()
    class TestMarked:
        @pytest.mark.skip
        @staticmethod
        def test_outside() -> None: ...

        @staticmethod
        @pytest.mark.skip
        def test_inside() -> None: ...

    assert [mark.name for mark in TestMarked.test_outside.pytestmark] == ["skip"]
    assert [mark.name for mark in TestMarked.test_inside.pytestmark] == ["skip"]


def test_a_coroutine_function_can_be_decorated():
    @emulated_s3()
    async def count() -> int:
        await asyncio.sleep(0)
        boto3.client("s3").create_bucket(Bucket="data")
        return len(boto3.client("s3").list_buckets()["Buckets"])

    assert asyncio.run(count()) == 1


def test_a_generator_function_cannot_be_decorated():
    def generate():
        yield 1

    with pytest.raises(TypeError, match=r"cannot decorate <function .*generate.*use `with emulated_s3"):
        emulated_s3()(generate)


def test_a_retry_test_that_did_not_fire_fails_the_block():
    with pytest.raises(AssertionError, match="GetObject-1"), emulated_s3() as s3:
        s3.faults().retry_test({"GetObject": ["slow_down"]})


def test_puts_over_the_memory_limit_fail_until_an_object_is_deleted():
    with emulated_s3(memory_limit=8 << 20):
        client = boto3.client("s3", config=Config(retries={"total_max_attempts": 1}))
        client.create_bucket(Bucket="data")
        client.put_object(Bucket="data", Key="large", Body=bytes(5 << 20))
        with pytest.raises(ClientError, match=r"limit of 8\.0 MiB") as refused:
            client.put_object(Bucket="data", Key="more", Body=bytes(5 << 20))
        assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 507
        client.delete_object(Bucket="data", Key="large")
        client.put_object(Bucket="data", Key="more", Body=bytes(5 << 20))


def test_a_memory_limit_below_the_minimum_is_rejected():
    with pytest.raises(ValueError, match=r"memory limit must be 1048576 .*, not 1000"):
        Emulator(memory_limit=1000)


@pytest.fixture
def real(monkeypatch):
    """The emulator that the environment names before the calls under test. No request may reach it."""
    with Emulator() as emulator:
        for name, value in emulator.environment().items():
            monkeypatch.setenv(name, value)
        yield emulator
        assert len(emulator.journal()) == 0
        assert os.environ["AWS_ENDPOINT_URL"] == emulator.endpoint


OVERLAP = r"share os\.environ.*one after the other, or use penstock_emulator\.Emulator"


def test_coroutines_that_overlap_are_refused_before_a_variable_changes(real):
    @emulated_s3()
    async def count() -> int:
        await asyncio.sleep(0.01)
        return count_in_environment()

    async def both():
        return await asyncio.gather(count(), count(), count(), return_exceptions=True)

    with pytest.raises(RuntimeError, match=OVERLAP):
        raise next(result for result in asyncio.run(both()) if isinstance(result, RuntimeError))
    assert [result for result in asyncio.run(both()) if not isinstance(result, RuntimeError)] == [1]


def test_a_second_task_inside_a_block_is_refused_and_the_first_is_nested(real):
    @emulated_s3()
    async def count() -> int:
        await asyncio.sleep(0.01)
        return count_in_environment()

    async def both():
        with emulated_s3():
            results = await asyncio.gather(count(), count(), return_exceptions=True)
            return [*results, count_in_environment()]

    first, second, outer = asyncio.run(both())
    assert (first, type(second), outer) == (1, RuntimeError, 1)


def test_threads_that_overlap_are_refused_before_a_variable_changes(real):
    inside, refused = threading.Event(), threading.Event()

    @emulated_s3()
    def count() -> int:
        inside.set()
        assert refused.wait(30)
        return count_in_environment()

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(count)
        assert inside.wait(30)
        with pytest.raises(RuntimeError, match=OVERLAP):
            count()
        with pytest.raises(RuntimeError, match=OVERLAP), emulated_s3():
            pass
        refused.set()
        assert first.result(30) == 1
    assert count() == 1


def test_a_thread_of_its_own_is_refused_and_one_with_the_context_is_nested(real):
    @emulated_s3()
    async def outer() -> tuple[int, int]:
        assert count_in_environment() == 1
        inner = await asyncio.to_thread(count_buckets)
        with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError, match=OVERLAP):
            pool.submit(count_buckets).result(30)
        return inner, len(boto3.client("s3").list_buckets()["Buckets"])

    assert asyncio.run(outer()) == (1, 1)


def test_a_call_in_an_event_loop_is_nested_in_a_block_of_its_thread(real):
    @emulated_s3()
    async def count() -> int:
        return count_in_environment()

    loop = asyncio.new_event_loop()
    task = loop.create_task(count())  # its context is older than the block
    with emulated_s3():
        assert loop.run_until_complete(task) == 1
    loop.close()


def test_blocks_that_end_out_of_order_restore_the_environment(real):
    first, second = emulated_s3(), emulated_s3(region="eu-west-1")
    first.__enter__()
    emulator = second.__enter__()
    first.__exit__(None, None, None)
    assert os.environ["AWS_ENDPOINT_URL"] == emulator.endpoint
    assert os.environ["AWS_REGION"] == "eu-west-1"
    second.__exit__(None, None, None)
    assert os.environ["AWS_REGION"] == real.region


def test_a_task_may_outlive_the_block_that_it_is_nested_in(real):
    @emulated_s3()
    async def count(ended: asyncio.Event) -> int:
        await ended.wait()
        return count_in_environment()

    async def run() -> int:
        ended = asyncio.Event()
        with emulated_s3():
            task = asyncio.create_task(count(ended))
            await asyncio.sleep(0)
        ended.set()
        return await task

    assert asyncio.run(run()) == 1
    assert count_buckets() == 1
