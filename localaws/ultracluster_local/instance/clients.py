"""boto3 clients that reach only the local AWS."""

import os
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import botocore
import botocore.config
import botocore.loaders
import botocore.session

from ultracluster_local.instance.environment import SECRET_KEY, require_loopback

__all__ = ["Clients", "service_model"]


_LOADER = botocore.loaders.create_loader()
"""Caches service models; reading that of EC2 takes 0.1 s."""


@cache
def _session() -> Any:
    # Ignore the user's profiles, configuration and credentials, whether in files or in environment variables.
    session = botocore.session.Session(session_vars={"profile": (None, None, None, None)})
    session.set_config_variable("config_file", os.devnull)
    session.set_config_variable("credentials_file", os.devnull)
    session.register_component("data_loader", _LOADER)
    return session


@cache
def service_model(service: str) -> Any:
    """Return botocore's model of a service."""
    return _session().get_service_model(service)


class Clients:
    """A cache of clients for one endpoint.

    Args:
        endpoint: Address of the local AWS.
        key: Access key ID of the local AWS.
        answer: Handler created by `ultracluster_local.server.in_process.before_send_handler`. Default: requests
            go over HTTP.

    Raises:
        LocalAwsError: If `endpoint` is not a loopback address (UC8001).
    """

    def __init__(self, *, endpoint: str, key: str, answer: Callable[..., Any] | None = None) -> None:
        self.endpoint = require_loopback(endpoint)
        self.key = key
        self._answer = answer
        self._clients: dict[tuple[str, str], Any] = {}
        self._lock = threading.Lock()

    def get(self, service: str, region: str) -> Any:
        """Return a client that does not retry, so that errors surface at once."""
        with self._lock:
            client = self._clients.get((service, region))
            if client is None:
                client = self._clients[service, region] = _session().create_client(
                    service,
                    region_name=region,
                    endpoint_url=self.endpoint,
                    aws_access_key_id=self.key,
                    aws_secret_access_key=SECRET_KEY,
                    config=botocore.config.Config(
                        retries={"total_max_attempts": 1},
                        connect_timeout=5,
                        read_timeout=120,
                        proxies={},
                        user_agent="ultracluster-local",  # saves building it for each request
                        s3={"addressing_style": "path"},
                        max_pool_connections=32,
                    ),
                )
                if self._answer:
                    client.meta.events.register("before-send", self._answer)
                    client.meta.events.register("choose-signer", lambda **_: botocore.UNSIGNED)
                    client.meta.events.register("before-sign", self._address)
            return client

    def _address(self, request: Any, signing_name: str, region_name: str, **_: Any) -> None:
        """Address a request by the scope of a fake signature: none is verified, and signing takes 10 % of a call."""
        scope = f"{self.key}/20261122/{region_name}/{signing_name}/aws4_request"
        request.headers["Authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=0"
        )
