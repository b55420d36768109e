"""`ultracluster destroy` deletes stacks in order, and data only where its cluster is named."""

import io
import json
import sys
from typing import Any

import pytest
from tests.unit.cli.operate.fake_aws import RESOURCES, STAGE, Aws

STACKS = [f"delete_stack {STAGE}-{part}" for part in ("Cluster", "Storage", "Network")]


def test_stacks_go_in_the_order_that_aws_accepts_and_data_stays(run: Any, aws: Aws) -> None:
    outcome = run("destroy", "--yes")

    assert outcome.code == 0, outcome.stderr
    assert aws.done == STACKS
    for text in ("Kept; what costs is paid for until you delete it", "fs-1", "bucket-1", "vpc-1", "free"):
        assert text in outcome.stdout
    assert "a Capacity Block cannot be cancelled" in outcome.stderr


def test_protected_nodes_of_an_auto_scaling_group_end_before_its_stack_is_deleted(
    run: Any, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = ("AWS::AutoScaling::AutoScalingGroup", "Fleet", "group-1")
    monkeypatch.setitem(RESOURCES, f"{STAGE}-Cluster", [*RESOURCES[f"{STAGE}-Cluster"], group])
    monkeypatch.setattr("ultracluster_cli.operate.destroy._POLL_SECONDS", 0)
    aws.group += [{"InstanceId": f"i-{number}", "ProtectedFromScaleIn": True} for number in range(51)]

    outcome = run("destroy", "--yes")

    assert outcome.code == 0, outcome.stderr
    assert aws.done == ["scale group-1 to 0", "unprotect 50", "unprotect 1", *STACKS]


def test_nothing_is_deleted_without_an_answer(run: Any, aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))

    outcome = run("destroy", "--delete-data", "quickstart")

    assert outcome.code == 1
    assert f"Delete {STAGE} AND THE DATA of quickstart in account 123456789012?" in outcome.stderr
    assert aws.done == []


def test_data_is_deleted_only_of_a_cluster_whose_name_is_typed(run: Any, aws: Aws) -> None:
    refused = run("destroy", "--yes", "--delete-data", "other")

    assert refused.code == 2
    assert refused.stderr == "error: --delete-data got 'other'. Allowed: quickstart.\n"
    assert aws.done == []

    done = run("destroy", "--yes", "--delete-data", "quickstart", "--json")

    assert done.code == 0, done.stderr
    assert aws.done == [
        *STACKS,
        "delete_file_system fs-1",
        "delete_vpc vpc-1",
        "delete_objects bucket-1",
        "delete_bucket bucket-1",
        "delete_log_group logs-1",
    ]
    assert json.loads(done.stdout)["clusters"][0]["kept"] == []


def test_data_that_the_stacks_delete_needs_the_name_of_its_cluster(run: Any, aws: Aws) -> None:
    aws.deleted_with_their_stack |= {"Files", "Bucket", "ClusterMetricsLogs0D6C5D49", "Vpc"}

    refused = run("destroy", "--yes")

    assert refused.code == 2
    assert refused.stderr.startswith(
        "UC9019: quickstart: removal_policy of quickstart is destroy: its stacks delete "
    )
    assert all(each in refused.stderr for each in ("fs-1", "bucket-1", "logs-1", "--delete-data quickstart"))
    assert aws.done == []

    done = run("destroy", "--yes", "--delete-data", "quickstart")

    assert done.code == 0, done.stderr
    assert "DELETED WITH THEIR DATA by the stacks" in done.stdout
    assert [each for each in aws.done if each.startswith("delete_stack")] == STACKS
    assert "delete_objects bucket-1" in aws.done
    assert "delete_file_system fs-1" not in aws.done


def test_what_could_not_be_deleted_is_named(run: Any, aws: Aws) -> None:
    aws.refused["delete_bucket"] = "AccessDenied"

    outcome = run("destroy", "--yes", "--delete-data", "quickstart")

    assert outcome.code == 4
    assert "error: AWS::S3::Bucket bucket-1 still exists: " in outcome.stderr
    assert "delete_log_group logs-1" in aws.done


def test_destroying_nothing_is_said(run: Any, aws: Aws) -> None:
    aws.stacks.clear()

    assert run("destroy", "--yes").stderr == "Nothing is deployed.\n"
    assert "earlier destroy has kept" in run("destroy", "--yes", "--delete-data", "quickstart").stderr


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("active", "cr-0123456789abcdef0 stays yours until its end"),
        ("expired", "cr-0123456789abcdef0 has ended (expired): nothing is paid for it any more."),
        ("payment-failed", "cr-0123456789abcdef0 has ended (payment-failed)"),
    ],
)
def test_a_block_stays_only_until_it_has_ended(run: Any, aws: Aws, state: str, said: str) -> None:
    aws.block = state
    outcome = run("destroy", "--yes")
    assert said in outcome.stderr
    assert ("cannot be cancelled" in outcome.stderr) == (state == "active")
