"""boto3 clients, of functions and of the command line: made, kept and counted in one place."""

from collections import Counter
from collections.abc import Callable, Mapping
from copy import copy
from threading import Lock
from typing import Any, Final, Self

import boto3
from botocore.config import Config


def patience(*, attempts: int = 5, connect: int = 5, read: int = 30) -> Config:
    """Return how often a client sends a request and how many seconds it waits; it backs off when AWS throttles."""
    return Config(
        retries={"mode": "standard", "total_max_attempts": attempts},
        connect_timeout=connect,
        read_timeout=read,
        max_pool_connections=16,
        user_agent_extra="ultracluster",
    )


OF_COMMANDS: Final = patience()
OF_FUNCTIONS: Final = patience(attempts=3, connect=3, read=10)
"""Functions run every minute, so calls that hang are cut off early."""
ONCE: Final = Config(retries={"mode": "standard", "total_max_attempts": 1})
"""For SubmitJob, which is not idempotent: repeated after a lost response, it would submit a second job."""


class Clients:
    """boto3 clients of one account, each made when it is first asked for, and then kept.

    Thread-safe, as clients of boto3 are and its sessions are not:
    https://docs.aws.amazon.com/boto3/latest/guide/session.html#multithreading-or-multiprocessing-with-sessions.
    """

    def __init__(
        self,
        make: Callable[..., Any] | None = None,
        *,
        region: str | None = None,
        config: Config = OF_COMMANDS,
    ) -> None:
        """Make no client yet.

        Args:
            make: Makes a client, as `boto3.client` does. Default: that of the credentials of the environment.
            region: Region of the clients. Default: that of the environment or the profile.
            config: How the clients call AWS.
        """
        self.region = region
        self._make = make
        self._config = config
        self._kept: dict[tuple[str, str | None, Config | None], Any] = {}
        self._sent: Counter[str] = Counter()
        self._lock = Lock()

    def __call__(self, service: str, region: str | None = None, *, config: Config | None = None) -> Any:
        """Return the client of a service, by default in the Region of these clients; `config` changes theirs."""
        key = (service, region or self.region, config)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = self.make(*key[:2], self._config.merge(config) if config else self._config)
            return self._kept[key]

    def make(self, service: str, region: str | None, config: Config) -> Any:
        """Return a client that nobody else gets."""
        client = (self._make or boto3.client)(service, region_name=region, config=config)

        def count(event_name: str, **_: Any) -> None:
            with self._lock:
                self._sent[f"{service}:{event_name.rpartition('.')[2]}"] += 1

        client.meta.events.register("before-send", count, unique_id=f"count-{id(self._sent)}")
        return client

    def in_region(self, region: str) -> Self:
        """Return the same clients, with another Region as default."""
        other = copy(self)
        other.region = region
        return other

    @property
    def sent(self) -> Mapping[str, int]:
        """Number of requests by call, such as ``ec2:DescribeVpcs``, including retries; the most frequent first."""
        with self._lock:
            return dict(self._sent.most_common())
