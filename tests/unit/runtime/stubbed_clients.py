"""Stubbed boto3 clients: botocore validates requests and responses."""

from typing import Any

import boto3
from botocore.stub import Stubber


class StubbedAws:
    """Clients whose answers are given in the order of the calls; a call that is not expected fails the test."""

    def __init__(self) -> None:
        self.stubs: dict[str, Stubber] = {}

    def client(self, service: str, *_: object, **__: object) -> Any:
        if service not in self.stubs:
            self.stubs[service] = Stubber(boto3.client(service, region_name="us-east-2"))
            self.stubs[service].activate()
        return self.stubs[service].client

    def answer(self, service: str, call: str, response: Any, parameters: Any = None) -> None:
        self.client(service)
        self.stubs[service].add_response(call, response, parameters)

    def refuse(self, service: str, call: str, code: str) -> None:
        self.client(service)
        self.stubs[service].add_client_error(call, code, f"{code} it says")
