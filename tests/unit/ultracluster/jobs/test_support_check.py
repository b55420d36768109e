import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template
from tests.unit.ultracluster.builders import IMAGE, network, of_type, ultra_cluster

import ultracluster as uc
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

JOB = uc.Job(image=IMAGE, command=["model.py", "build"])


def cluster(stack: cdk.Stack, instance_type: str = "trn1.32xlarge") -> uc.UltraCluster:
    return ultra_cluster(stack, instance_type=instance_type, network=network(stack), capacity=uc.OnDemand())


def test_checks_on_a_cpu_host_for_the_chips_of_the_cluster(stack: cdk.Stack) -> None:
    made = cluster(stack).add_support_check("Check", JOB)
    assert made.queue.nodes.instance_type.name == "m7i.24xlarge"
    (definition,) = of_type(stack, "AWS::Batch::JobDefinition")
    container = definition["Properties"]["ContainerProperties"]
    assert container["Command"][:2] == ["python3", "-c"]
    assert container["Command"][3:] == ["model.py", "build"]
    assert {"Name": "NEURON_PLATFORM_TARGET_OVERRIDE", "Value": "trn1"} in container["Environment"]
    assert container["LinuxParameters"]["Devices"] == []
    # The command line finds the queue by the tag: it is not the cluster's own.
    Template.from_stack(stack).has_resource_properties(
        "AWS::Batch::JobDefinition",
        {"Tags": {"ultracluster:queue": stack.resolve(made.queue.job_queue_arn)}},
    )


def test_the_role_of_a_check_may_do_nothing(stack: cdk.Stack) -> None:
    made = cluster(stack).add_support_check("Check", JOB)
    logical_id = stack.get_logical_id(made.role.node.default_child)  # type: ignore[arg-type]
    role = Template.from_stack(stack).to_json()["Resources"][logical_id]["Properties"]
    statements = [each for policy in role["Policies"] for each in policy["PolicyDocument"]["Statement"]]
    assert {each["Effect"] for each in statements} == {"Deny"}


def test_a_check_and_a_precompile_job_share_the_queue_of_cpu_hosts(stack: cdk.Stack) -> None:
    made = cluster(stack)
    check = made.add_support_check("Check", JOB)
    job = uc.Job(image=IMAGE, command=["train.py"], instance_type="cpu", phase="compile")
    assert made.add_precompile_job("Compile", job).queue is check.queue


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"command": ["model.py"]}, "UC6159: .*command: got 'model.py'"),
        ({"command": ["model.py", "build it"]}, "UC6159"),
        ({"launcher": "jax"}, "UC6112: .*launcher: got 'jax' for a support-check job"),
        ({"processes_per_node": 2}, "UC6112"),
        ({"instance_type": "trn1.2xlarge"}, "UC6112"),
        ({"resume": 1}, "UC6117"),
    ],
)
def test_rejects_what_a_check_has_not(stack: cdk.Stack, changes: dict[str, object], problem: str) -> None:
    given = {"image": IMAGE, "command": ["model.py", "build"]} | changes
    with pytest.raises(FindingsError, match=problem):
        cluster(stack).add_support_check("Check", uc.Job(**given))  # type: ignore[arg-type]


def test_rejects_a_check_for_nodes_without_neuron_devices(stack: cdk.Stack) -> None:
    with pytest.raises(
        FindingsError, match=r"UC6159: .*for_instance_type: p5\.48xlarge has no Neuron devices"
    ):
        cluster(stack, "p5.48xlarge").add_support_check("Check", JOB)
