"""Resources of FSx in a Region."""

import pytest
from tests.refusals import said

from ultracluster_local import LocalAws
from ultracluster_local.services.fsx.state import Fsx, fsx_of
from ultracluster_local.services.handlers import Request

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("file_system", "FileSystemNotFound: File system 'x-1' does not exist."),
        (
            "association",
            "DataRepositoryAssociationNotFound: Data repository association 'x-1' does not exist.",
        ),
        ("backup", "BackupNotFound: Backup 'x-1' does not exist."),
    ],
)
def test_a_resource_that_does_not_exist_is_named_with_its_kind(kind: str, words: str) -> None:
    fsx = Fsx()
    getattr(fsx, f"{kind}s")["x-2"] = {"here": True}

    assert said(fsx.one, kind, "x-1") == words
    assert fsx.one(kind, "x-2") == {"here": True}


def test_associations_of_a_file_system_are_listed_in_the_order_of_their_creation() -> None:
    fsx = Fsx()
    for name, file_system in (("dra-2", "fs-1"), ("dra-3", "fs-2"), ("dra-1", "fs-1")):
        fsx.associations[name] = {"AssociationId": name, "FileSystemId": file_system}

    assert [one["AssociationId"] for one in fsx.associations_of("fs-1")] == ["dra-2", "dra-1"]


@pytest.mark.usefixtures("local_aws")
def test_each_region_has_its_own_resources() -> None:
    here, there = (
        Request(operation="DescribeFileSystems", parameters={}, region=region)
        for region in ("us-east-1", "us-east-2")
    )
    fsx_of(here).file_systems["fs-1"] = {}

    assert [*fsx_of(here).file_systems] == ["fs-1"]
    assert fsx_of(there).file_systems == {}


def test_a_reset_leaves_no_file_system(local_aws: LocalAws) -> None:
    request = Request(operation="DescribeFileSystems", parameters={}, region="us-east-1")
    fsx_of(request).file_systems["fs-1"] = {}

    local_aws.reset()

    assert fsx_of(request).file_systems == {}
