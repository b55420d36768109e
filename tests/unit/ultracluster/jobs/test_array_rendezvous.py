"""Multi-node jobs where an Auto Scaling group starts the nodes: arrays of one child for each node."""

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import (
    IMAGE,
    IMAGE_ID,
    allowed,
    block,
    described,
    network,
    of_type,
    only,
)

import ultracluster as uc
from ultracluster.jobs.array_rendezvous import _source, rendezvous_command
from ultracluster.scheduling.unmanaged_environment import UnmanagedEnvironment
from ultracluster_catalog.names.launcher import LAUNCHER_PATH
from ultracluster_spec.findings import FindingsError

LAUNCHER = Path(__file__).parents[4] / "constructs/ultracluster/scripts/launch.py"


def job(stack: cdk.Stack, *, shared: bool = True, **options: Any) -> uc.MultiNodeJob:
    environment = UnmanagedEnvironment(stack, "Environment", max_vcpus=4 * 192)
    place = network(stack)
    nodes = uc.NodeGroup(
        stack,
        "Nodes",
        network=place,
        instance_type="trn2.48xlarge",
        image_id=IMAGE_ID,
        capacity=block(),
        file_system=uc.SharedFileSystem(stack, "Files", network=place) if shared else None,
        joins=environment.cluster,
    )
    queue = uc.TrainingQueue(stack, "Queue", nodes=nodes, max_nodes=4)
    description, others = described(image=IMAGE, command=["train.py", "--lr=1e-4"], **options)
    return uc.MultiNodeJob(stack, "Train", description, queue=queue, **others)


@pytest.mark.slow
def test_multi_node_job_is_an_array_of_whole_nodes(stack: cdk.Stack) -> None:
    job(stack, attempts=3)
    definition = only(stack, "AWS::Batch::JobDefinition")
    assert definition["Type"] == "container"
    assert definition["Tags"]["ultracluster:array-size"] == "4"
    container = definition["ContainerProperties"]
    assert {"Type": "VCPU", "Value": "192"} in container["ResourceRequirements"]
    variables = {one["Name"]: one["Value"] for one in container["Environment"]}
    assert (variables["UC_ARRAY_NODES"], variables["UC_RENDEZVOUS_PLACE"]) == (
        "4",
        "/fsx/.ultracluster/arrays",
    )
    # A child whose node_array lost another child leaves with this code.
    assert {"Action": "RETRY", "OnExitCode": "112"} in definition["RetryStrategy"]["EvaluateOnExit"]


@pytest.mark.slow
def test_children_without_a_file_system_meet_in_a_bucket(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match="UC6118"):
        job(cdk.Stack(cdk.App(), "Without"), shared=False)
    job(stack, shared=False, meeting_place=uc.CheckpointBucket(stack, "Checkpoints"))
    (definition,) = (each["Properties"] for each in of_type(stack, "AWS::Batch::JobDefinition"))
    variables = {one["Name"]: one["Value"] for one in definition["ContainerProperties"]["Environment"]}
    before, bucket, after = variables["UC_RENDEZVOUS_PLACE"]["Fn::Join"][1]
    assert (before, after) == ("s3://", "/.ultracluster/arrays")
    may = allowed(stack, "What the training program may do")
    assert any("s3:PutObject" in statement["Action"] for statement in may)
    assert bucket["Ref"].startswith("Checkpoints")


@pytest.mark.slow
def test_job_on_one_node_is_no_array(stack: cdk.Stack) -> None:
    job(stack, nodes=1)
    definition = only(stack, "AWS::Batch::JobDefinition")
    assert definition["Type"] == "container"
    assert "Tags" not in definition
    assert definition["ContainerProperties"]["Command"][2] == "torchrun"


def test_command_leaves_room_in_a_job_definition() -> None:
    assert sum(map(len, rendezvous_command(["train.py"], "torchrun"))) < 8_000


@pytest.mark.slow
def test_the_program_has_the_same_text_whichever_python_writes_it() -> None:
    # Since 3.12, Python writes a text inside an f-string with the quotes of the f-string, which 3.11 on a node cannot read.
    inside = [
        ast.unparse(text)
        for text in ast.walk(ast.parse(_source()))
        if isinstance(text, ast.JoinedStr)
        for value in text.values
        if isinstance(value, ast.FormattedValue)
        for part in ast.walk(value.value)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
    assert inside == []


def test_command_of_a_definition_runs_an_array(tmp_path: Path) -> None:
    program = "import os; print(os.environ['NODE_RANK'] + ' of ' + os.environ['NNODES'])"
    command = [
        {"python3": sys.executable, LAUNCHER_PATH: str(LAUNCHER)}.get(word, word)
        for word in rendezvous_command([sys.executable, "-c", program], "raw")
    ]
    children = [
        subprocess.Popen(
            command,
            env={
                **os.environ,
                "PYTHONPATH": "",
                "AWS_BATCH_JOB_ID": f"job:{index}",
                "AWS_BATCH_JOB_ARRAY_INDEX": str(index),
                "AWS_BATCH_JOB_ATTEMPT": "1",
                "UC_ARRAY_NODES": "3",
                "UC_RENDEZVOUS_PLACE": str(tmp_path),
                "UC_RENDEZVOUS_ADDRESS": "127.0.0.1",
                "UC_RENDEZVOUS_POLL": "0.05",
                "UC_RENDEZVOUS_LEASE": "3",
                "UC_RENDEZVOUS_PORT": "28700",
                "UC_LOST_SECONDS": "6",
            },
            stdout=subprocess.PIPE,
            text=True,
        )
        for index in range(3)
    ]
    assert [one.communicate(timeout=60)[0].strip() for one in children] == ["0 of 3", "1 of 3", "2 of 3"]
    assert [one.returncode for one in children] == [0, 0, 0]
