"""A client of the AWS Common Runtime (`awscrt`) for one endpoint, with the credentials of the environment."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from awscrt.auth import AwsCredentialsProvider
from awscrt.http import HttpHeaders, HttpRequest
from awscrt.io import ClientBootstrap, ClientTlsContext, DefaultHostResolver, EventLoopGroup, TlsContextOptions
from awscrt.s3 import S3Client, S3RequestTlsMode


def make_client(endpoint: str) -> S3Client:
    """The client; over TLS it trusts the certificates of AWS_CA_BUNDLE."""
    loops = EventLoopGroup()
    tls = None
    url = urlsplit(endpoint)
    if url.scheme == "https":
        options = TlsContextOptions()
        options.override_default_trust_store_from_path(None, os.environ["AWS_CA_BUNDLE"])
        tls = ClientTlsContext(options).new_connection_options()
        tls.set_server_name(str(url.hostname))
    return S3Client(
        bootstrap=ClientBootstrap(loops, DefaultHostResolver(loops)),
        region="us-east-1",
        credential_provider=AwsCredentialsProvider.new_environment(),
        tls_mode=S3RequestTlsMode.ENABLED if tls else S3RequestTlsMode.DISABLED,
        tls_connection_options=tls,
    )


def make_request(verb: str, endpoint: str, bucket: str, key: str, **options: object) -> HttpRequest:
    """A request with the bucket in its path; `options` are those of `HttpRequest`."""
    return HttpRequest(verb, f"/{bucket}/{key}", HttpHeaders([("host", urlsplit(endpoint).netloc)]), **options)
