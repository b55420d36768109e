"""Accounts that answer as told."""

import os
from typing import Any

from botocore.exceptions import ClientError
from tests.fake_clients import FakeClients

from ultracluster_cli._aws.target import Target


class Account:
    """An account in which no stack exists; reads that are not about the account fail."""

    def __init__(self, **answers: Any) -> None:
        self.answers: dict[str, Any] = {
            "get_caller_identity": {"Account": "123456789012", "Arn": "arn:aws:iam::123456789012:user/u"},
            "describe_regions": {"Regions": [{"OptInStatus": "opted-in"}]},
            "get_parameter": {"Parameter": {"Value": "30"}},
        } | answers
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def call(**_: Any) -> Any:
            self.asked.append(name)
            answer = self.answers.get(name)
            if answer is None:
                raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, name)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call

    def get_paginator(self, operation: str) -> Any:
        self.asked.append(operation)
        return self

    def paginate(self, **_: Any) -> list[dict[str, Any]]:
        return [{"Stacks": [], "PriceList": []}]

    def open(self, _: str | None = None) -> Target:
        return Target(
            name="account 123456789012",
            local=False,
            environment=os.environ,
            client=FakeClients(lambda *_: self),
            account="123456789012",
        )
