"""Clients that a test answers, wherever the product takes those of an account."""

from collections.abc import Callable
from typing import Any

from botocore.config import Config

from ultracluster_runtime.functions.clients import Clients


class FakeClients(Clients):
    """Clients that a function of service and Region returns; none is kept, and no request is counted."""

    def __init__(self, answer: Callable[[str, str | None], Any], *, region: str | None = None) -> None:
        super().__init__(region=region)
        self._answer = answer
        self.configs: list[Config | None] = []  # with which clients were asked for

    def __call__(self, service: str, region: str | None = None, *, config: Config | None = None) -> Any:
        self.configs.append(config)
        return self._answer(service, region or self.region)
