"""What preflight reads of AWS: each question once, counted, within a deadline, and reading only."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from datetime import datetime
from typing import Any, Final

from botocore import xform_name
from botocore.exceptions import ClientError

__all__ = ["ALLOWED_CALLS", "AwsReader", "DeadlinePassedError"]

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
        "ec2:DescribeVpcEndpoints",
        "ec2:DescribeVpcs",
        "ecr:DescribeImages",
        "ecr:DescribeRepositories",
        "fsx:DescribeFileSystems",
        "iam:GetRole",
        "iam:SimulatePrincipalPolicy",
        "kms:DescribeKey",
        "kms:GetKeyPolicy",
        "resource-groups:ListGroupResources",
        "s3:GetBucketLocation",
        "s3:GetBucketPolicy",
        "s3:GetBucketPolicyStatus",
        "service-quotas:GetAWSDefaultServiceQuota",
        "service-quotas:GetServiceQuota",
        "ssm:GetParameter",
        "sts:GetCallerIdentity",
    }
)
"""Every call that preflight may make, as the API spells it. A test holds that each of them only reads."""

_MOST_PAGES: Final = 1_000


class DeadlinePassedError(Exception):
    """The time for all checks is over, so that nothing more is asked."""


class AwsReader:
    """Answers of AWS, each asked for once in a Region; safe to be used by many threads.

    Back-off belongs to the clients: give those of boto3's mode ``standard``.

    Args:
        client: Gives the boto3 client of a service in a Region.
        now: The time that windows of capacity are compared with, aware.
        seconds: For how long questions are asked.
        clock: Seconds that only grow. Default: those of this machine.
    """

    def __init__(
        self,
        client: Callable[[str, str], Any],
        *,
        now: datetime,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.now = now
        self._client = client
        self._clock = clock
        self._end = clock() + seconds
        self._lock = threading.Lock()
        self._making = threading.Lock()  # boto3 makes one client at a time
        self._answers: dict[tuple[str, str, str, str], Future[Any]] = {}
        self._sent: Counter[str] = Counter()

    @property
    def call_counts(self) -> Mapping[str, int]:
        """How often each call was sent, repetitions by back-off included."""
        with self._lock:
            return dict(self._sent)

    def seconds_left(self) -> float:
        """Give the seconds until the deadline."""
        return self._end - self._clock()

    def call(self, service: str, region: str, operation: str, **parameters: Any) -> Mapping[str, Any]:
        """Give the answer to one call.

        Args:
            service: Name of the service as boto3 spells it.
            region: Region to ask in.
            operation: Name of the call as the API spells it; one of `ALLOWED_CALLS`.
            **parameters: Of the call.

        Raises:
            KeyError: If the call is not one of `ALLOWED_CALLS`: a mistake of the check.
            DeadlinePassedError: If there is no time left.
            botocore.exceptions.ClientError: What AWS refuses.
        """
        response: Mapping[str, Any] = self._once(service, region, operation, parameters, self._send)
        return response

    def call_or_none(
        self, service: str, region: str, operation: str, *, absent: tuple[str, ...], **parameters: Any
    ) -> Mapping[str, Any] | None:
        """Give the answer to one call as `call` does; None where AWS says that there is no such thing.

        Args:
            service: Name of the service as boto3 spells it.
            region: Region to ask in.
            operation: Name of the call as the API spells it; one of `ALLOWED_CALLS`.
            absent: Error codes that say so.
            **parameters: Of the call.
        """
        try:
            return self.call(service, region, operation, **parameters)
        except ClientError as error:
            if error.response["Error"]["Code"] in absent:
                return None
            raise

    def list_all(self, service: str, region: str, operation: str, key: str, **parameters: Any) -> list[Any]:
        """Give all items of a listing, from its first page to its last.

        Args:
            service: Name of the service as boto3 spells it.
            region: Region to ask in.
            operation: Name of the call as the API spells it; one of `ALLOWED_CALLS`, and one that has pages.
            key: The member of the answer that holds the items.
            **parameters: Of the call.
        """
        items: list[Any] = self._once(service, region, operation, parameters, self._pages(key))
        return items

    def _once(
        self, service: str, region: str, operation: str, parameters: Mapping[str, Any], send: Any
    ) -> Any:
        call = f"{service}:{operation}"
        if call not in ALLOWED_CALLS:
            raise KeyError(f"{call} is not a call that preflight makes")
        question = (service, region, operation, json.dumps(parameters, sort_keys=True, default=str))
        with self._lock:
            known = self._answers.get(question)
            response = known or self._answers.setdefault(question, Future())
        if known is None:
            try:
                response.set_result(send(service, region, operation, parameters))
            except Exception as error:  # noqa: BLE001 - whoever else asks this gets the same answer
                response.set_exception(error)
        return response.result()

    def _send(self, service: str, region: str, operation: str, parameters: Mapping[str, Any]) -> Any:
        if self.seconds_left() <= 0:
            raise DeadlinePassedError
        call = f"{service}:{operation}"
        with self._making:
            client = self._client(service, region)
        attempts = 1
        try:
            response = getattr(client, xform_name(operation))(**parameters)
            attempts += response.get("ResponseMetadata", {}).get("RetryAttempts", 0)
        except ClientError as error:
            attempts += error.response.get("ResponseMetadata", {}).get("RetryAttempts", 0)
            raise
        finally:
            with self._lock:
                self._sent[call] += attempts
        return response

    def _pages(self, key: str) -> Callable[[str, str, str, Mapping[str, Any]], list[Any]]:
        def send(service: str, region: str, operation: str, parameters: Mapping[str, Any]) -> list[Any]:
            with self._making:
                client = self._client(service, region)
            # What the service calls its token is botocore's to know.
            names = client.get_paginator(xform_name(operation))._pagination_cfg  # noqa: SLF001
            items: list[Any] = []
            token: dict[str, str] = {}
            for _ in range(_MOST_PAGES):
                response = self._send(service, region, operation, {**parameters, **token})
                items += response.get(key, [])
                if not response.get(names["output_token"]):
                    return items
                token = {names["input_token"]: response[names["output_token"]]}
            raise RuntimeError(f"{service}:{operation} did not end after {_MOST_PAGES} pages")

        return send
