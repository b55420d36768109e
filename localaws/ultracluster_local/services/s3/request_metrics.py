"""S3 request metrics: configurations of a bucket, and request counts in CloudWatch for objects with their prefix.

moto handles requests for them as requests for the bucket itself. GET, HEAD, PUT, all requests and 4xx errors are
counted. Unlike in AWS, counts are in CloudWatch at once and complete.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import parse_qs, unquote, urlparse

from moto.cloudwatch.models import cloudwatch_backends
from moto.s3.models import s3_backends
from moto.s3.responses import S3Response

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.handlers import ServiceError, answered
from ultracluster_local.services.replacing import instead_of

__all__: list[str] = []

_NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
_COUNTED = {"GET": "GetRequests", "HEAD": "HeadRequests", "PUT": "PutRequests"}
_CLIENT_ERRORS = range(400, 500)
_PREFIX = re.compile("<Prefix>(.*?)</Prefix>")


@dataclass(slots=True)
class _Metrics:
    """Configurations by bucket and ID: prefix, and document as it was put."""

    by_bucket: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)


def _configurations(bucket: str) -> dict[str, tuple[str, str]]:
    return region_state("s3-metrics", region="aws", new=_Metrics).by_bucket.setdefault(bucket, {})


@instead_of(S3Response, "_bucket_response")
def _bucket_response(original: Any, response: Any, request: Any, full_url: str) -> Any:
    query = parse_qs(urlparse(full_url).query, keep_blank_values=True)
    bucket = response.parse_bucket_name_from_url(request, full_url)
    if not bucket or "metrics" not in query:
        if request.method == "DELETE" and bucket and not query:
            _configurations(bucket).clear()
        return original(response, request, full_url)
    response.backend.get_bucket(bucket)  # raises if the bucket does not exist
    return _metrics_call(response, bucket, query, method=request.method)


def _metrics_call(response: Any, bucket: str, query: Mapping[str, list[str]], *, method: str) -> Any:
    kept = _configurations(bucket)
    wanted = query.get("id", [""])[0]
    if method == "PUT":
        body = response.body or b""
        text = body.decode() if isinstance(body, bytes) else body
        prefix = _PREFIX.search(text)
        kept[wanted] = (unescape(prefix[1]) if prefix else "", text)
        return 200, {}, ""
    if method == "DELETE":
        kept.pop(wanted, None)
        return 204, {}, ""
    if not wanted:
        documents = "".join(text for _, text in kept.values())
        list_name = "ListMetricsConfigurationsResult"
        return (
            200,
            {},
            f'<{list_name} xmlns="{_NAMESPACE}"><IsTruncated>false</IsTruncated>{documents}</{list_name}>',
        )
    response.data["Action"] = "GetBucketMetricsConfiguration"
    if wanted not in kept:
        return answered(
            response, ServiceError("NoSuchConfiguration", "The specified configuration does not exist.")
        )
    return 200, {}, kept[wanted][1]


@instead_of(S3Response, "key_response")
def _key_response(original: Any, response: Any, request: Any, full_url: str, headers: Any) -> Any:
    answered = original(response, request, full_url, headers)
    bucket = response.parse_bucket_name_from_url(request, full_url)
    key = unquote(urlparse(full_url).path).removeprefix(f"/{bucket}").removeprefix("/")
    for filter_id, (prefix, _) in _configurations(bucket).items():
        if key.startswith(prefix):
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
