"""Clients of functions, which run in one Region with credentials of their own."""

from collections.abc import Callable
from functools import cached_property
from threading import Lock
from typing import Any

import boto3
from botocore.config import Config


def _made(service: str, *, attempts: int = 3, connect: int = 3, read: int = 10) -> "cached_property[Any]":
    """Return the client of a service. Functions run every minute, so calls that hang are cut off early."""
    retries = {"mode": "standard", "total_max_attempts": attempts}
    config = Config(connect_timeout=connect, read_timeout=read, retries=retries)
    return cached_property(lambda clients: clients.make(service, config))


class Clients:
    """boto3 clients, each made when it is first used."""

    autoscaling = _made("autoscaling")
    batch = _made("batch")
    submitter = _made("batch", attempts=1)  # SubmitJob is not idempotent
    cloudwatch = _made("cloudwatch")
    dynamodb = _made("dynamodb")
    ec2 = _made("ec2")
    ecs = _made("ecs")
    sns = _made("sns")
    # The next run repeats requests for checkpoints; this one must end in time, however many nodes are not connected.
    ssm = _made("ssm", attempts=1, connect=2, read=5)

    def __init__(self, make: Callable[[str], Any] | None = None) -> None:
        """Create no client yet.

        Args:
            make: Returns the client of a service. Default: that of the Region and credentials of the environment.
        """
        self._make = make
        self._lock = Lock()  # boto3's default session is not thread-safe

    def make(self, service: str, config: Config) -> Any:
        """Return a new client of a service."""
        with self._lock:
            return self._make(service) if self._make else boto3.client(service, config=config)
