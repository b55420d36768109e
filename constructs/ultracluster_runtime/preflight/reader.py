"""Read-only AWS client of preflight: each query is sent once, and bounded by a deadline."""

import json
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from datetime import datetime
from typing import Any, Final

from botocore import xform_name
from botocore.exceptions import ClientError

from ultracluster_runtime.functions.clients import Clients

ALLOWED_CALLS: Final = frozenset(
    {
        "batch:DescribeComputeEnvironments",
        "batch:DescribeJobQueues",
        "cloudformation:DescribeStacks",
        "dynamodb:GetItem",
        "ec2:DescribeAvailabilityZones",
        "ec2:DescribeCapacityReservations",
        "ec2:DescribeImages",
        "ec2:DescribeInstances",
        "ec2:DescribeInstanceTypeOfferings",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeRegions",
        "ec2:DescribeRouteTables",
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeSubnets",
        "ec2:DescribeVpcAttribute",
        "ec2:DescribeVpcEndpointServices",
        "ec2:DescribeVpcEndpoints",
        "ec2:DescribeVpcs",
        "ecr:BatchGetImage",
        "ecr:DescribeImages",
        "ecr:DescribeRepositories",
        "ecr:GetDownloadUrlForLayer",
        "fsx:DescribeFileSystems",
        "iam:GetRole",
        "iam:SimulatePrincipalPolicy",
        "kms:DescribeKey",
        "kms:GetKeyPolicy",
        "resource-groups:ListGroupResources",
        "s3:GetBucketLocation",
        "s3:GetBucketPolicy",
        "s3:GetBucketPolicyStatus",
        "s3files:ListMountTargets",
        "service-quotas:GetAWSDefaultServiceQuota",
        "service-quotas:GetServiceQuota",
        "ssm:GetParameter",
        "sts:GetCallerIdentity",
    }
)
"""All calls that preflight may make, as IAM actions. A test verifies that each of them is read-only."""


class DeadlinePassedError(Exception):
    """The deadline for all checks has passed; no more calls are made."""


class AwsReader:
    """Sends each query to AWS once per Region and caches the response. Thread-safe.

    `Clients` keep connections, which outlive this: a reader keeps the answers of one run, within a deadline and a list of
    calls. Retries are left to the clients. No call is made `seconds` after the creation.
    """

    allowed = ALLOWED_CALLS

    def __init__(
        self,
        clients: Clients,
        *,
        now: datetime,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.now = now
        self._clients = clients
        self._clock = clock
        self._end = clock() + seconds
        self._lock = threading.Lock()
        self._answers: dict[tuple[str, str, str], Future[Any]] = {}

    def seconds_left(self) -> float:
        """Return the seconds until the deadline."""
        return self._end - self._clock()

    def call(self, call: str, region: str, **parameters: Any) -> Mapping[str, Any]:
        """Make one call, which must be in `allowed`, and return its response."""
        response: Mapping[str, Any] = self._cached(call, region, parameters, self._send)
        return response

    def call_or_none(
        self, call: str, region: str, *, absent: tuple[str, ...], **parameters: Any
    ) -> Mapping[str, Any] | None:
        """Make one call as `call` does; return None for an error code in `absent`: the resource does not exist."""
        try:
            return self.call(call, region, **parameters)
        except ClientError as error:
            if error.response["Error"]["Code"] in absent:
                return None
            raise

    def find(
        self, call: str, region: str, key: str, *, absent: tuple[str, ...], **parameters: Any
    ) -> Mapping[str, Any] | None:
        """Return the first item that a call lists under `key`; None without one, or if AWS knows no such resource."""
        response = self.call_or_none(call, region, absent=absent, **parameters) or {}
        return next(iter(response.get(key, ())), None)

    def list_all(self, call: str, region: str, key: str, **parameters: Any) -> list[Any]:
        """Return all items of a paginated operation, from the member `key` of its pages."""
        items: list[Any] = self._cached(call, region, parameters, self._pages(key))
        return items

    def _cached(self, call: str, region: str, parameters: Mapping[str, Any], send: Any) -> Any:
        if call not in self.allowed:
            raise KeyError(f"{call} is not a call that these checks make")
        question = (call, region, json.dumps(parameters, sort_keys=True, default=str))
        with self._lock:
            known = self._answers.get(question)
            response = known or self._answers.setdefault(question, Future())
        if known is None:
            try:
                response.set_result(send(call, region, parameters))
            except Exception as error:  # noqa: BLE001 - other threads with the same query get the same error
                response.set_exception(error)
        return response.result()

    def _operation(self, call: str, region: str) -> tuple[Any, str]:
        if self.seconds_left() <= 0:
            raise DeadlinePassedError
        service, _, operation = call.partition(":")
        return self._clients(service, region), xform_name(operation)

    def _send(self, call: str, region: str, parameters: Mapping[str, Any]) -> Any:
        client, operation = self._operation(call, region)
        return getattr(client, operation)(**parameters)

    def _pages(self, key: str) -> Callable[[str, str, Mapping[str, Any]], list[Any]]:
        def send(call: str, region: str, parameters: Mapping[str, Any]) -> list[Any]:
            client, operation = self._operation(call, region)
            items: list[Any] = []
            for page in client.get_paginator(operation).paginate(**parameters):
                items += page.get(key, [])
                if self.seconds_left() <= 0:
                    raise DeadlinePassedError
            return items

        return send
