"""Commands of jobs over several nodes: ranks that meet, and workers that have cores."""

import pytest
from tests.unit.checks.edits import JOB, LT, codes_after

from ultracluster_checks import Source

MAIN = "${AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS:-$(hostname -i)}"
TRAIN = (
    f'set -eu\nexport NEURON_RT_ROOT_COMM_ID="{MAIN}:63423"\n'
    "torchrun --nnodes $AWS_BATCH_JOB_NUM_NODES --node_rank $AWS_BATCH_JOB_NODE_INDEX --nproc_per_node 32 --master_port 41000 train.py"
)


def found(foreign: dict[str, Source], command: str) -> list[str]:
    return codes_after(foreign, "batch-efa", {f"{JOB}/Command": ["bash", "-c", command]})


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("$AWS_BATCH_JOB_NUM_NODES", "1"),
        ("$AWS_BATCH_JOB_NODE_INDEX", "0"),
        (f'"{MAIN}:63423"', "10.0.0.4"),
        (f'"{MAIN}:63423"', "127.0.0.1:63423"),
        (f'"{MAIN}:63423"', "$(hostname -i):63423"),
        ("--master_port 41000", "--master_port 63423"),
        (MAIN, "$AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"),
        ("--nproc_per_node 32", "--nproc_per_node 64"),
        ("set -eu", "export NEURON_RT_NUM_CORES=64"),
    ],
)
def test_a_command_that_separates_the_ranks_of_a_job_is_found(
    foreign: dict[str, Source], part: str, other: str
) -> None:
    assert part in TRAIN
    assert found(foreign, TRAIN) == []
    assert found(foreign, TRAIN.replace(part, other)) == ["UC6416"]


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("$AWS_BATCH_JOB_NUM_NODES", "4"),
        ("$AWS_BATCH_JOB_NUM_NODES", "1:4"),
        ("set -eu", "export NEURON_RT_NUM_CORES=32"),
        (
            "set -eu",
            "set -eu\n[ $AWS_BATCH_JOB_NODE_INDEX = $AWS_BATCH_JOB_MAIN_NODE_INDEX ] || echo $AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS",
        ),
    ],
)
def test_a_command_that_keeps_the_ranks_together_has_no_finding(
    foreign: dict[str, Source], part: str, other: str
) -> None:
    assert found(foreign, TRAIN.replace(part, other)) == []


def test_user_data_counts_the_cores_of_its_nodes(foreign: dict[str, Source]) -> None:
    for cores, codes in ((32, []), (64, ["UC6416"])):
        data = f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="==A=="\n\n--==A==\nContent-Type: text/x-shellscript\n\n#!/bin/bash\necho NEURON_RT_NUM_CORES={cores} >> /etc/environment\n--==A==--'
        assert codes_after(foreign, "batch-efa", {f"{LT}/UserData": {"Fn::Base64": data}}) == codes
