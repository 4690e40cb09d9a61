"""S3 for the length of a block, a function or a test case."""

from __future__ import annotations

import os
import unittest

import boto3
import pytest
from penstock.testing import emulated_s3


def test_clients_find_it_inside_the_block_alone(monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with emulated_s3(region="eu-west-1") as s3:
        boto3.client("s3").create_bucket(Bucket="data", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
        assert s3.stats()["requests"] == {"CreateBucket": 1}
    assert os.environ["AWS_PROFILE"] == "production"
    assert "AWS_ENDPOINT_URL" not in os.environ


def test_the_environment_comes_back_when_the_block_fails(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "mine")
    with pytest.raises(RuntimeError, match="inside"), emulated_s3():
        raise RuntimeError("inside")
    assert os.environ["AWS_ACCESS_KEY_ID"] == "mine"


@emulated_s3()
def count_buckets() -> int:
    boto3.client("s3").create_bucket(Bucket="data")
    return len(boto3.client("s3").list_buckets()["Buckets"])


def test_decorates_a_function_anew_each_time():
    assert [count_buckets(), count_buckets()] == [1, 1]


class Case(unittest.TestCase):
    def setUp(self) -> None:
        context = emulated_s3()
        self.s3 = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)

    def test_upload(self) -> None:
        boto3.client("s3").create_bucket(Bucket="data")
        self.assertEqual(self.s3.stats()["requests"], {"CreateBucket": 1})
