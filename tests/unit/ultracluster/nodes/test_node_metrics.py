import subprocess
from pathlib import Path

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import IMAGE_ID, ZONE, allowed, of_type, only, unpacked

from ultracluster import ClusterNetwork, NodeGroup, NodeMetrics
from ultracluster.nodes.user_data import metrics_script
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


def embedded_source() -> str:
    return metrics_script().split("UC_SOURCE' || return\n")[1].split("UC_SOURCE\n")[0]


def nodes(stack: cdk.Stack, metrics: NodeMetrics | None) -> str:
    """User data of nodes with everything, with one character for each token."""
    network = ClusterNetwork(stack, "Net", zone_id=ZONE, instance_type="trn2.48xlarge", node_count=4)
    NodeGroup(
        stack,
        "Nodes",
        network=network,
        instance_type="trn2.48xlarge",
        image_id=IMAGE_ID,
        scratch_path="/scratch",
        metrics=metrics,
    )
    data = only(stack, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]["UserData"]["Fn::Base64"]
    return (
        data
        if isinstance(data, str)
        else "".join(each if isinstance(each, str) else "?" for each in data["Fn::Join"][1])
    )


def test_nodes_publish_to_the_log_group_and_may_do_nothing_more(stack: cdk.Stack) -> None:
    text = unpacked(nodes(stack, NodeMetrics(stack, "Metrics", cluster_name="pretrain")))
    assert "export UC_CLUSTER='pretrain'" in text
    assert text.index("start_metrics ||") < text.index(
        "wait_for Neuron"
    )  # also nodes that refuse to join report
    statements = allowed(stack, "Nodes of the cluster")
    (log_group,) = cdk.assertions.Template.from_stack(stack).find_resources("AWS::Logs::LogGroup")
    assert statements[-1] == {
        "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
        "Effect": "Allow",
        "Resource": {"Fn::GetAtt": [log_group, "Arn"]},
    }


def test_without_metrics_nodes_are_as_they_were(stack: cdk.Stack) -> None:
    text = unpacked(nodes(stack, None))
    assert "metrics" not in text
    assert not of_type(stack, "AWS::Logs::LogGroup")


def test_user_data_leaves_room_for_what_aws_batch_adds_to_its_16_kib(stack: cdk.Stack) -> None:
    text = nodes(stack, NodeMetrics(stack, "Metrics", cluster_name="x" * 100))
    tokens = 4 * 100  # file system, log group and Region, each shorter than that
    assert len(text) + tokens < 14 * 1024


def test_the_service_is_written_and_started_by_the_boot_script(tmp_path: Path) -> None:
    (tmp_path / "etc/systemd/system").mkdir(parents=True)
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "systemctl").write_text(f'#!/bin/sh\necho "$@" >>"{tmp_path}/calls"\n')
    (commands / "systemctl").chmod(0o755)
    done = subprocess.run(
        ["bash", "-c", metrics_script() + "\necho booted\n"],
        env={"PATH": f"{commands}:/usr/bin:/bin", "UC_ROOT": str(tmp_path), "UC_CLUSTER": "pretrain"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "booted\n"
    place = tmp_path / "usr/local/lib/ultracluster"
    assert (place / "node_metrics.py").read_text() == embedded_source()
    assert "UC_CLUSTER=pretrain\n" in (place / "environment").read_text()
    unit = (tmp_path / "etc/systemd/system/ultracluster-metrics.service").read_text()
    assert f"ExecStart=/usr/bin/python3 {place}/node_metrics.py\n" in unit
    assert (tmp_path / "calls").read_text().splitlines() == [
        "daemon-reload",
        "enable --now --no-block ultracluster-metrics.service",
    ]


def test_a_node_whose_metrics_cannot_start_boots_all_the_same(tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", metrics_script() + "\necho booted\n"],
        env={"PATH": "/usr/bin:/bin", "UC_ROOT": str(tmp_path / "file")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.endswith("were not started\nbooted\n")


@pytest.mark.parametrize("name", ["", "-a", "a b", "a'b", "x" * 101, "ä"])
def test_rejects_a_name_that_a_shell_or_cloudwatch_would_read_otherwise(stack: cdk.Stack, name: str) -> None:
    with pytest.raises(FindingsError, match="UC6441"):
        NodeMetrics(stack, "Metrics", cluster_name=name)
