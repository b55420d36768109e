"""S3 request metrics: counts in CloudWatch for objects with the prefix of a configuration.

GET, HEAD, PUT, all requests and 4xx errors are counted. Unlike in AWS, counts are in CloudWatch at once and complete.
"""

from typing import Any
from urllib.parse import unquote, urlparse

from moto.cloudwatch.models import cloudwatch_backends
from moto.s3.models import s3_backends
from moto.s3.responses import S3Response

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.replacing import instead_of
from ultracluster_local.services.s3.kept import kept_of

__all__: list[str] = []

_COUNTED = {"GET": "GetRequests", "HEAD": "HeadRequests", "PUT": "PutRequests"}
_CLIENT_ERRORS = range(400, 500)


@instead_of(S3Response, "key_response")
def _key_response(original: Any, response: Any, request: Any, full_url: str, headers: Any) -> Any:
    answered = original(response, request, full_url, headers)
    bucket = response.parse_bucket_name_from_url(request, full_url)
    key = unquote(urlparse(full_url).path).removeprefix(f"/{bucket}").removeprefix("/")
    if bucket not in s3_backends[ACCOUNT]["aws"].buckets:
        return answered
    for filter_id, one in kept_of(bucket, "Metrics").items():
        if key.startswith((one.get("Filter") or {}).get("Prefix", "")):
            _count(bucket, filter_id, method=request.method, status=int(answered[0]))
    return answered


def _count(bucket: str, filter_id: str, *, method: str, status: int) -> None:
    names = ["AllRequests", *([_COUNTED[method]] if method in _COUNTED else [])]
    if status in _CLIENT_ERRORS:
        names.append("4xxErrors")
    region = s3_backends[ACCOUNT]["aws"].get_bucket(bucket).region_name
    dimensions = [{"Name": "BucketName", "Value": bucket}, {"Name": "FilterId", "Value": filter_id}]
    cloudwatch_backends[ACCOUNT][region].put_metric_data(
        "AWS/S3",
        [
            {
                "MetricName": name,
                "Value": 1,
                "Unit": "Count",
                "Timestamp": CLOCK.now().replace(tzinfo=None),  # moto's times are naive
                "Dimensions": dimensions,
            }
            for name in names
        ],
    )
