from email import message_from_string

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import network, nodes, unpacked
from tests.unit.ultracluster.nodes.launch_templates import user_data

from ultracluster import SharedFileSystem
from ultracluster.nodes.user_data import boot_script

pytestmark = pytest.mark.slow


def test_parts_of_the_boot_script_run_before_it_reports_readiness() -> None:
    script = boot_script(["node-gpus.sh", "node-scratch.sh"])
    assert script.startswith(boot_script([]).partition("# Part of node-boot.sh, before its end")[0])
    places = ["wait_for GPU", "\nmount_scratch\n", "\nput_launcher ||", 'say "ready"']
    assert sorted(places, key=script.index) == places
    assert script.endswith(boot_script([])[-20:])


def test_user_data_is_mime_as_aws_batch_demands_and_fits(stack: cdk.Stack) -> None:
    cluster = network(stack)
    file_system = SharedFileSystem(stack, "FileSystem", network=cluster)
    nodes(stack, network=cluster, file_system=file_system)
    message = message_from_string(user_data(stack))
    (part,) = message.get_payload()
    assert message.get_content_type() == "multipart/mixed"
    assert part.get_content_type() == "text/x-shellscript"
    assert part.get_payload().startswith("#!/bin/bash\n")
    # A blank line before the closing boundary, as in the AWS Batch User Guide: aws/aws-cdk#6427.
    assert user_data(stack).endswith("\n\n--==ULTRACLUSTER==--\n")
    # AWS Batch writes the cluster of the agent itself.
    assert "ECS_CLUSTER" not in unpacked(user_data(stack))


def test_user_data_expects_every_device_of_the_type(stack: cdk.Stack) -> None:
    nodes(stack)
    assert "export UC_NEURON_DEVICES='16'\nexport UC_EFA_DEVICES='16'\n" in user_data(stack)
    assert "UC_FILE_SYSTEM_DNS='" not in user_data(stack)


def test_user_data_downloads_nothing(stack: cdk.Stack) -> None:
    nodes(stack)
    for word in ("curl", "wget", "dnf", "yum", "apt", "pip install", "git clone"):
        assert word not in unpacked(user_data(stack))
