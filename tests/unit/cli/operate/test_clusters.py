"""`ultracluster clusters` lists the clusters of an account by the tags of their queues and groups."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.fake_clients import FakeClients

from ultracluster_cli.operate import clusters

TAG = "ultracluster:cluster"
PAGES: Mapping[str, Any] = {
    "describe_job_queues": {
        "jobQueues": [{"tags": {TAG: "ours"}}, {"tags": {TAG: "ours"}}, {"tags": {}}, {}],
    },
    "describe_auto_scaling_groups": {
        "AutoScalingGroups": [{"Tags": [{"Key": TAG, "Value": "theirs"}]}, {"Tags": []}],
    },
    "describe_instances": {"Reservations": []},
}


class Aws:
    """Two enabled Regions with the same clusters; one may refuse."""

    def __init__(self, refuses: str = "") -> None:
        self.refuses = refuses

    def __call__(self, service: str, region: str) -> Any:
        assert service in {"ec2", "batch", "autoscaling"}
        self.region = region
        if region == self.refuses:
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "DescribeJobQueues")
        return self

    def describe_regions(self) -> Any:
        return {"Regions": [{"RegionName": name} for name in ("us-east-2", "ap-southeast-4", "eu-south-1")]}

    def get_paginator(self, name: str) -> Any:
        class Paginator:
            def paginate(self, **_: Any) -> Iterator[Any]:
                yield PAGES[name]

        return Paginator()


@pytest.mark.parametrize(
    ("refuses", "code", "regions"),
    [("", 0, ["ap-southeast-4", "us-east-2"]), ("us-east-2", 5, ["ap-southeast-4"])],
)
def test_lists_what_is_tagged_and_names_the_regions_that_cannot_be_read(
    run: Any, monkeypatch: pytest.MonkeyPatch, refuses: str, code: int, regions: list[str]
) -> None:
    monkeypatch.setattr(clusters, "clients_of", lambda _: FakeClients(Aws(refuses)))

    outcome = run("clusters", "--json")

    assert outcome.code == code
    told = json.loads(outcome.stdout)
    assert [(row["cluster"], row["region"]) for row in told["clusters"]] == [
        (name, region) for region in regions for name in ("ours", "theirs")
    ]
    assert told["clusters"][0] == {
        "cluster": "ours",
        "region": "ap-southeast-4",
        "queues": 2,
        "groups": 0,
        "nodes": 0,
    }
    assert list(told["unread"]) == ([refuses] if refuses else [])
    assert outcome.stderr.startswith(f"{refuses} could not be read: " if refuses else "")


def test_an_unknown_region_is_refused(run: Any) -> None:
    outcome = run("clusters", "--regions", "us-east2")
    assert outcome.code == 2
    assert outcome.stderr.startswith("UC6204: ")
