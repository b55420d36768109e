"""Each rule about jobs, asked of a rollout file, of a construct and of a template: one violation, the same code three times."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import aws_cdk as cdk
import pytest
from tests.unit.checks.test_whole_cluster import JOB, variable
from tests.unit.checks.whole_cluster import codes_after
from tests.unit.ultracluster.builders import IMAGE, queue

from ultracluster import Job, MultiNodeJob, TrainingQueue
from ultracluster_spec.findings import Finding, FindingsError

pytestmark = pytest.mark.slow

Findings = Callable[..., list[Finding]]
_ENVIRONMENT = "{NEURON_RT_LOG_LEVEL: INFO}"
_LONG = "x" * 24_576


@dataclass(frozen=True, kw_only=True, slots=True)
class Mistake:
    """A mistake as a rollout file, a construct and a template have it.

    Attributes:
        code: Code of its rule.
        path: Where it is in the job of a rollout file, and in the arguments of a construct.
        yaml: What stands for what in the valid rollout.
        arguments: Changed arguments of a multi-node job.
        template: Edits of the stack of the quick start's cluster.
    """

    code: str
    path: str
    yaml: tuple[str, str]
    arguments: dict[str, Any]
    template: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.code} {self.path}"


def of_variable(code: str, name: str, value: str) -> Mistake:
    """A variable of the environment."""
    return Mistake(
        code=code,
        path=f"environment.{name}",
        yaml=(_ENVIRONMENT, f'{{{name}: "{value}"}}'),
        arguments={"environment": {name: value}},
        template=variable(name, value),
    )


def of_argument(
    code: str, path: str, text: str, arguments: dict[str, Any], template: dict[str, Any]
) -> Mistake:
    """A setting of the job, in the line before its image."""
    return Mistake(
        code=code,
        path=path,
        yaml=("image: 1", f"{text}\n            image: 1"),
        arguments=arguments,
        template=template,
    )


MISTAKES = [
    of_variable("UC6408", "FI_PROVIDER", "tcp"),
    of_variable("UC6416", "NCCL_NET", "Socket"),
    of_variable("UC6416", "MASTER_ADDR", "localhost"),
    of_variable("UC6416", "RANK", "7"),
    of_variable("UC6416", "NEURON_RT_NUM_CORES", "9999"),
    of_variable("UC6416", "NEURON_RT_VISIBLE_CORES", "0-3"),
    of_variable("UC6416", "NEURON_CC_FLAGS", "--target=trn1"),
    of_variable("UC6416", "NEURON_RT_NUM_CORE", "32"),
    of_variable("UC6417", "CHECKPOINT_DIR", "/data/checkpoints"),
    of_variable("UC6010", "NEURON_CC_FLAGS", "--cache_dir=s3://elsewhere"),
    of_variable("UC6109", "AWS_BATCH_JOB_NUM_NODES", "4"),
    of_variable("UC6411", "TEXT", _LONG),
    of_argument(
        "UC6104",
        "attempts",
        "attempts: 11",
        {"attempts": 11},
        {"JobDefinition/RetryStrategy/Attempts": 11},
    ),
    of_argument(
        "UC6103",
        "processes_per_node",
        "processes_per_node: 24",
        {"processes_per_node": 24},
        variable("UC_PROCESSES_PER_NODE", "24"),
    ),
    of_variable("UC6103", "NEURON_LOGICAL_NC_CONFIG", "1"),
    Mistake(
        code="UC6144",
        path="command[0]",
        yaml=("[train.py]", '["--standalone", train.py]'),
        arguments={"command": ["--standalone", "train.py"]},
        template={f"{JOB}/Command": ["torchrun", "--standalone", "train.py"]},
    ),
    of_argument(
        "UC6101",
        "nodes",
        "nodes: 5",
        {"nodes": 5},
        {"JobDefinition/NodeProperties/NumNodes": 5},
    ),
]
"""Without those that only a template can have, such as devices that are not mapped, and permissions, which a construct gets later."""


@pytest.fixture(scope="module")
def training() -> TrainingQueue:
    """A queue of four nodes."""
    return queue(cdk.Stack(cdk.App(), "Test", env=cdk.Environment(region="us-east-2")), max_nodes=4)


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_a_mistake_has_one_code(findings: Findings, training: TrainingQueue, mistake: Mistake) -> None:
    written = findings(mistake.yaml)
    job = Job(**{"image": IMAGE, "command": ("train.py",)} | mistake.arguments)
    with pytest.raises(FindingsError) as refused:
        MultiNodeJob(cdk.Stack.of(training), "Job", job, queue=training)

    assert {each.code for each in written} == {mistake.code}
    assert {each.code for each in refused.value.findings} == {mistake.code}
    assert mistake.code in codes_after("Cluster", mistake.template)
    assert [each.path for each in written] == [f"waves[0].clusters[0].jobs[0].{mistake.path}"]
    assert [each.path for each in refused.value.findings] == [mistake.path]
