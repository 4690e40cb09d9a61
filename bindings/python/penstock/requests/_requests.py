"""S3's requests as methods of S3Client."""

from ._buckets import BucketRequests
from ._configurations import ConfigurationRequests
from ._multipart import MultipartRequests
from ._objects import ObjectRequests
from ._presigning import Presigning


class Requests(ObjectRequests, MultipartRequests, BucketRequests, ConfigurationRequests, Presigning):
    """Base class of S3Client: every method but ``delete_objects`` sends one request, with retries, and waits for the response.

    In every method, `bucket` is the name of a bucket or the ARN of an access point, and `key` is an object key. None means that
    an argument is not sent. Times are datetimes with a time zone, or seconds since the epoch. ETags may be given with or
    without quotes.

    Raises:
        TypeError: An argument has another type, or a keyword is unknown.
        S3InvalidArgumentError: An argument is out of range, or arguments exclude each other. Also a ValueError.
        S3Exception: The request failed after all attempts.
    """
