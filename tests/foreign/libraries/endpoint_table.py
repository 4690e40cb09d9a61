"""Writes client/s3/endpoint/endpoint_table.tsv: the endpoint that botocore's S3 rule set resolves, for a grid of inputs.

    python tests/foreign/libraries/endpoint_table.py > client/s3/endpoint/endpoint_table.tsv

A line: bucket, region, endpoint URL, flags, then either `url`, the URL, the first auth scheme, its signing name and
region, or `error` and the message. `-` is an input that is not set. client/s3/endpoint/endpoint_table_test.cc replays every line.
"""

import itertools
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import botocore.exceptions
import botocore.loaders
from botocore.endpoint_provider import EndpointProvider

PARAMETERS = {
    "fips": ("UseFIPS", True),
    "dualstack": ("UseDualStack", True),
    "path": ("ForcePathStyle", True),
    "accelerate": ("Accelerate", True),
    "global": ("UseGlobalEndpoint", True),
    "arn_region": ("UseArnRegion", True),
    "client_region": ("UseArnRegion", False),
    "no_mrap": ("DisableMultiRegionAccessPoints", True),
    "no_access_points": ("DisableAccessPoints", True),
    "control": ("UseS3ExpressControlEndpoint", True),
    "no_session": ("DisableS3ExpressSessionAuth", True),
    "object_lambda": ("UseObjectLambdaEndpoint", True),
}

Row = tuple[str, str, str, str]

PLAIN = ["-", "bucket", "dotted.name", "Upper", "under_score", "ab", "10.0.0.1", "-hyphen", "a" * 63, "a" * 64]
STYLES = [
    "-",
    "fips",
    "dualstack",
    "fips,dualstack",
    "path",
    "path,fips",
    "path,dualstack",
    "path,fips,dualstack",
    "accelerate",
    "accelerate,dualstack",
    "accelerate,fips",
    "accelerate,path",
    "global",
    "global,path",
    "global,fips",
    "global,dualstack",
    "global,accelerate",
    "global,accelerate,dualstack",
]
REGIONS = [
    "us-east-1",
    "us-west-2",
    "ap-southeast-3",
    "il-central-1",
    "mx-central-1",
    "cn-north-1",
    "us-gov-west-1",
    "eusc-de-east-1",
    "us-iso-east-1",
    "us-isob-east-1",
    "eu-isoe-west-1",
    "us-isof-south-1",
    "aws-global",
    "aws-cn-global",
    "aws-us-gov-global",
    "aws-iso-global",
    "aws-iso-b-global",
    "aws-iso-e-global",
    "aws-iso-f-global",
    "xx-new-1",
    "cn-north",
    "no_label",
    "-",
]
ENDPOINTS = [
    "http://localhost:9000",
    "https://store.example",
    "https://store.example/pre/fix",
    "http://store.example:8080/p/",
    "http://127.0.0.1:9000",
    "https://10.1.2.3/pre",
    "http://[::1]:9000",
    "https://[fd00::1]/p",
]
BAD_ENDPOINTS = ["store.example", "ftp://store.example", "https://store.example/?a=b", "https://store.example:port"]
DIRECTORY = [
    "data--usw2-az1--x-s3",
    "data--apne1-az4--x-s3",
    "data--usw2-lax1-az1--x-s3",
    "data--apne1-tpe1-az1--x-s3",
    "data--abcdefgh-abcdefg-az1--x-s3",
    "a-b--c--use1-az4--x-s3",
    "point--usw2-az1--xa-s3",
    "point--apne1-az4--xa-s3",
    "point--usw2-lax1-az1--xa-s3",
    "point--apne1-tpe1-az1--xa-s3",
    "point--abcdefgh-abcdefg-az1--xa-s3",
]
BAD_DIRECTORY = [
    "--x-s3",
    "usw2-az1--x-s3",
    "--usw2-az1--x-s3",
    "data-usw2-az1--x-s3",
    "data--az1--x-s3",
    "data--use12-az123--x-s3",
    "dotted.data--usw2-az1--x-s3",
    "Data--usw2-az1--x-s3",
    "under_score--usw2-az1--x-s3",
    "--xa-s3",
    "point-usw2-az1--xa-s3",
    "Point--usw2-az1--xa-s3",
    "data--usw2-az1--x-s3-",
    "data--usw2-az1--X-S3",
]
ACCOUNT = "123456789012"
ARNS = """
    arn:aws:s3:us-west-2:ACCOUNT:accesspoint/point arn:aws:s3:us-west-2:ACCOUNT:accesspoint:point
    arn:aws:s3:us-east-1:ACCOUNT:accesspoint/point arn:aws-cn:s3:cn-north-1:ACCOUNT:accesspoint/point
    arn:aws-us-gov:s3:us-gov-west-1:ACCOUNT:accesspoint/point arn:aws:s3:us-west-2:ACCOUNT:accesspoint/point/more
    arn:aws:s3:us-west-2:ACCOUNT:accesspoint/ arn:aws:s3:us-west-2:ACCOUNT:accesspoint
    arn:aws:s3:us-west-2:ACCOUNT:accesspoint/under_score arn:aws:s3:us-west-2:ACCOUNT:accesspoint/dot.ted
    arn:aws:s3:us-west-2::accesspoint/point arn:aws:s3:us-west-2:12_34:accesspoint/point
    arn:aws:sqs:us-west-2:ACCOUNT:accesspoint/point arn:aws:s3:us_west_2:ACCOUNT:accesspoint/point
    arn:aws:s3::ACCOUNT:accesspoint/alias.mrap arn:aws:s3::ACCOUNT:accesspoint:alias.mrap
    arn:aws-cn:s3::ACCOUNT:accesspoint/alias.mrap arn:aws:s3::ACCOUNT:accesspoint/under_score
    arn:aws:s3::ACCOUNT:accesspoint arn:aws:s3-object-lambda:us-west-2:ACCOUNT:accesspoint/lambda
    arn:aws:s3-object-lambda:us-east-1:ACCOUNT:accesspoint:lambda
    arn:aws-cn:s3-object-lambda:cn-north-1:ACCOUNT:accesspoint/lambda arn:aws:s3-object-lambda::ACCOUNT:accesspoint/lambda
    arn:aws:s3-object-lambda:us-west-2::accesspoint/lambda arn:aws:s3-object-lambda:us-west-2:12_34:accesspoint/lambda
    arn:aws:s3-object-lambda:us-west-2:ACCOUNT:accesspoint/lambda/more
    arn:aws:s3-object-lambda:us-west-2:ACCOUNT:bucket/lambda
    arn:aws:s3-object-lambda:us-west-2:ACCOUNT:accesspoint/under_score
    arn:aws:s3-object-lambda:us-west-2:ACCOUNT:accesspoint arn:aws:s3-object-lambda:us_west_2:ACCOUNT:accesspoint/lambda
    arn:aws:s3-outposts:us-west-2:ACCOUNT:outpost/op-0ACCOUNT3456/accesspoint/point
    arn:aws:s3-outposts:us-east-1:ACCOUNT:outpost:op-0ACCOUNT3456:accesspoint:point
    arn:aws-cn:s3-outposts:cn-north-1:ACCOUNT:outpost/op-0ACCOUNT3456/accesspoint/point
    arn:aws:s3-outposts:us-west-2:ACCOUNT:outpost/op-0ACCOUNT3456/accesspoint/point/more
    arn:aws:s3-outposts:us-west-2:ACCOUNT:outpost/op-0ACCOUNT3456/accesspoint
    arn:aws:s3-outposts:us-west-2:ACCOUNT:outpost/op-0ACCOUNT3456/bucket/point
    arn:aws:s3-outposts:us-west-2:ACCOUNT:outpost/op-0ACCOUNT3456 arn:aws:s3-outposts:us-west-2:ACCOUNT:outpost
    arn:aws:s3-outposts:us-west-2:ACCOUNT:outpost/op_1/accesspoint/point
    arn:aws:s3-outposts:us-west-2:ACCOUNT:outpost/op-1/accesspoint/under_score
    arn:aws:s3-outposts:us-west-2::outpost/op-1/accesspoint/point
    arn:aws:s3-outposts:us_west_2:ACCOUNT:outpost/op-1/accesspoint/point arn:aws:s3:us-west-2:ACCOUNT:bucket/name
    arn:aws:s3:::bucket arn:aws:s3:us-west-2:ACCOUNT:/name arn:aws:s3 arn:nonsense arn:aws:s3:us-west-2:1:
    arn::s3:us-west-2:1:accesspoint/point arn:aws::us-west-2:1:accesspoint/point
""".replace("ACCOUNT", ACCOUNT).split()
OUTPOSTS = [
    "test-accessp-o0b1d075431d83bebde8xz5w8ijx1qzlbp3i3kuse10--op-s3",
    "test-accessp-e0b1d075431d83bebde8xz5w8ijx1qzlbp3i3kuse10--op-s3",
    "test-accessp-x0b1d075431d83bebde8xz5w8ijx1qzlbp3i3kuse10--op-s3",
    "test-accessp-o0b1d075431d83bebde8xz5w8ijx1qzlbp3i3kbeta0--op-s3",
    "test-accessp-e0b1d075431d83bebde8xz5w8ijx1qzlbp3i3kbeta0--op-s3",
    "test-accessp-o0b1d075431d83be.de8xz5w8ijx1qzlbp3i3kuse10--op-s3",
    "Test-accessp-o0b1d075431d83bebde8xz5w8ijx1qzlbp3i3kuse10--op-s3",
    "short--op-s3",
]
ARN_FLAGS = [
    "-",
    "path",
    "dualstack",
    "fips",
    "fips,dualstack",
    "accelerate",
    "arn_region",
    "client_region",
    "no_mrap",
    "no_access_points",
]


def grid() -> Iterator[Row]:
    """Every input of the table. Some occur twice."""
    yield from itertools.product(PLAIN, ["us-west-2"], ["-"], STYLES)
    yield from itertools.product(
        ["-", "bucket", "dotted.name"], ["us-east-1", "aws-global", "cn-north-1", "us-gov-west-1"], ["-"], STYLES
    )
    yield from itertools.product(["-", "bucket", "dotted.name", DIRECTORY[0]], REGIONS, ["-"], ["-"])
    yield from itertools.product(["bucket"], REGIONS, ["-"], ["fips", "dualstack", "path"])
    yield from itertools.product(
        ["-", "bucket", "dotted.name", "Upper", "10.0.0.1", "a..c"], ["us-west-2"], ENDPOINTS, ["-", "path"]
    )
    yield from itertools.product(["bucket"], ["us-east-1", "aws-global"], ENDPOINTS[:5], ["-", "global", "path", "global,path"])
    yield from itertools.product(
        ["-", "bucket"], ["us-west-2"], ENDPOINTS[:1], ["fips", "dualstack", "accelerate", "fips,accelerate"]
    )
    yield from itertools.product(["bucket", "dotted.name"], ["us-west-2"], BAD_ENDPOINTS, ["-", "path"])
    yield from itertools.product(
        DIRECTORY + BAD_DIRECTORY,
        ["us-west-2"],
        ["-"],
        ["-", "no_session", "control", "fips", "dualstack", "fips,dualstack", "accelerate"],
    )
    control = ["control", "control,fips", "control,dualstack", "control,fips,dualstack", "control,path"]
    yield from itertools.product(["-", DIRECTORY[0]], ["us-west-2", "us-gov-west-1", "cn-north-1"], ["-"], control)
    yield from itertools.product(
        [DIRECTORY[0], DIRECTORY[6], BAD_DIRECTORY[6]], ["us-west-2"], ENDPOINTS, ["-", "no_session", "control", "path"]
    )
    yield from itertools.product(["-"], ["us-west-2"], ENDPOINTS, ["control", "object_lambda"])
    yield from itertools.product(DIRECTORY[:1], ["us-west-2"], ENDPOINTS[:1], ["fips", "dualstack", "accelerate"])
    yield from itertools.product(ARNS, ["us-west-2"], ["-"], ARN_FLAGS)
    yield from itertools.product(
        ARNS[:5] + ARNS[14:16] + ARNS[19:22] + ARNS[30:33],
        ["us-east-1", "cn-north-1", "aws-global"],
        ["-"],
        ["-", "client_region"],
    )
    yield from itertools.product(
        ARNS[:1] + ARNS[14:15] + ARNS[19:20] + ARNS[30:31], ["us-west-2"], ENDPOINTS[1:5], ["-", "accelerate"]
    )
    yield from itertools.product(OUTPOSTS, ["us-west-2", "cn-north-1"], ["-"], ["-", "dualstack"])
    yield from itertools.product(OUTPOSTS[:5], ["us-west-2"], ENDPOINTS[1:3], ["-"])
    yield from itertools.product(
        ["-"], ["us-west-2", "us-gov-west-1"], ["-"], ["object_lambda", "object_lambda,fips", "object_lambda,dualstack"]
    )


def outcome(provider: EndpointProvider, row: Row) -> tuple[str, ...]:
    """The rule set's result for one input."""
    bucket, region, endpoint, flags = row
    given: dict[str, Any] = dict.fromkeys(
        ("UseFIPS", "UseDualStack", "ForcePathStyle", "Accelerate", "UseGlobalEndpoint", "DisableMultiRegionAccessPoints"), False
    )
    for name, value in (("Bucket", bucket), ("Region", region), ("Endpoint", endpoint)):
        if value != "-":
            given[name] = value
    given.update(PARAMETERS[flag] for flag in flags.split(",") if flag != "-")
    try:
        found = provider.resolve_endpoint(**given)
    except botocore.exceptions.EndpointProviderError as error:
        return "error", str(error)
    scheme = found.properties["authSchemes"][0]
    region = scheme["signingRegion"] if "signingRegion" in scheme else ",".join(scheme["signingRegionSet"])
    return "url", found.url.rstrip("/"), scheme["name"], scheme["signingName"], region


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """The table's lines for these inputs, without duplicates."""
    loader = botocore.loaders.create_loader()
    provider = EndpointProvider(loader.load_service_model("s3", "endpoint-rule-set-1"), loader.load_data("partitions"))
    for row in dict.fromkeys(rows):
        yield "\t".join((*row, *outcome(provider, row)))


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in lines(grid()))
