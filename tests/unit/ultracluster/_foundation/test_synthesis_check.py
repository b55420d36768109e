"""The rules of templates at the synthesis of an app with our constructs."""

from collections.abc import Callable
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import IConstruct

from ultracluster import ClusterNetwork, TemplateCheck
from ultracluster._foundation.synthesis_check import give_warnings
from ultracluster_spec.findings import Finding, FindingsError

pytestmark = pytest.mark.slow

_LOST = "UC5201: Training/Lost: DeletionPolicy: objects are lost when the stack is deleted"
_PLACE = {"instance_type": "trn2.48xlarge", "node_count": 1, "zone_id": "use2-az3"}

Edit = Callable[[cdk.Stack], object]


def app_with(folder: Path, *edits: Edit, app: cdk.App | None = None) -> cdk.App:
    """An app with a network of ours in one of its stacks, which edits change."""
    app = app or cdk.App(outdir=str(folder))
    stack = cdk.Stack(app, "Training", env=cdk.Environment(account="123456789012", region="us-east-2"))
    ClusterNetwork(stack, "Network", **_PLACE)  # type: ignore[arg-type]
    for edit in edits:
        edit(stack)
    return app


def lost(stack: cdk.Stack) -> s3.CfnBucket:
    return s3.CfnBucket(stack, "Lost")


def reading_all(stack: cdk.Stack) -> None:
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"))
    role.add_to_policy(iam.PolicyStatement(actions=["s3:GetObject"], resources=["*"]))


def buying(stack: cdk.Stack) -> None:
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"))
    role.add_to_policy(iam.PolicyStatement(actions=["ec2:PurchaseCapacityBlock"], resources=["*"]))


def acknowledging(code: str, *, at: Callable[[cdk.Stack], IConstruct] = lambda stack: stack) -> Edit:
    rule = cdk.Acknowledgment(id=f"ultracluster:{code}", reason="a test")
    return lambda stack: cdk.Validations.of(at(stack)).acknowledge(rule)


def telling(stack: cdk.Stack) -> None:
    cdk.Annotations.of(stack).add_warning_v2("ultracluster:UC6453", "UC6453: told by a construct")


def with_plugin(stack: cdk.Stack) -> None:
    cdk.Validations.of(stack.node.root).add_plugins(TemplateCheck(skip={"UC5201": "copies"}))


def skipping(stack: cdk.Stack) -> None:
    lost(stack).add_metadata("ultracluster", {"skip": {"UC5201": "copies"}})


def looking_up(stack: cdk.Stack) -> None:
    vpc = ec2.Vpc.from_lookup(stack, "Vpc", vpc_name="theirs")
    ec2.CfnSecurityGroup(stack, "Group", group_description="x", vpc_id=vpc.vpc_id)


def of_the_cdk(stack: cdk.Stack) -> None:
    theirs = {"availability_zones": ["us-east-2a"], "private_subnet_ids": ["subnet-0123456789abcdef0"]}
    vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-0123456789abcdef0", **theirs)  # type: ignore[arg-type]
    ec2.BastionHostLinux(stack, "Bastion", vpc=vpc)
    codebuild.Project(stack, "Build", build_spec=codebuild.BuildSpec.from_object({"version": "0.2"}))


def in_ours(stack: cdk.Stack) -> None:
    iam.ManagedPolicy(
        stack.node.find_child("Network"),
        "Policy",
        statements=[iam.PolicyStatement(actions=["s3:*"], resources=["*"])],
    )


def destroyed(stack: cdk.Stack) -> None:
    s3.Bucket(stack, "Destroyed", removal_policy=cdk.RemovalPolicy.DESTROY)


def beside(stack: cdk.Stack) -> None:
    lost(cdk.Stack(stack.node.scope, "Other"))


def in_stage(stack: cdk.Stack) -> None:
    inner = cdk.Stack(cdk.Stage(stack.node.root, "Stage"), "Inner", env=cdk.Environment(region="us-east-2"))
    ClusterNetwork(cdk.NestedStack(inner, "Nested"), "Network", **_PLACE)  # type: ignore[arg-type]
    lost(inner.node.find_child("Nested"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("edits", "line"),
    [
        ((lost,), _LOST),
        ((in_stage,), _LOST.replace("Training", "Stage/Inner/Nested")),
        ((in_ours,), "UC6420: Training/Network/Policy/Resource: Properties."),
        ((buying, acknowledging("UC6425")), "UC6425: Training/Role/DefaultPolicy/Resource: Properties."),
    ],
    ids=[
        "of an own resource",
        "in a nested stack of a stage",
        "in a construct of ours",
        "that is never left out",
    ],
)
def test_an_error_ends_the_synthesis_with_the_path_of_its_construct(
    edits: tuple[Edit, ...], line: str, tmp_path: Path
) -> None:
    with pytest.raises(FindingsError) as refused:
        app_with(tmp_path, *edits).synth()

    assert str(refused.value).startswith(line)


@pytest.mark.parametrize(
    "edits",
    [
        (),
        (beside,),
        (destroyed,),
        (skipping,),
        (lost, with_plugin),
        (lost, looking_up),
        (lost, acknowledging("UC5201")),
        (lost, acknowledging("UC5201", at=lambda stack: stack.node.find_child("Lost"))),
        (reading_all, acknowledging("UC6453")),
        (reading_all, telling),
        (of_the_cdk, acknowledging("UC6420")),
    ],
    ids=[
        "nothing is wrong",
        "in a stack without our constructs",
        "the app asked for it",
        "skipped in metadata",
        "checked by a plugin of the app",
        "before values are looked up",
        "acknowledged at the stack",
        "acknowledged at the resource",
        "a warning that is acknowledged",
        "a warning that a construct gives too",
        "constructs of the CDK, acknowledged",
    ],
)
def test_what_is_no_error_is_synthesized_without_a_word(
    edits: tuple[Edit, ...], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert app_with(tmp_path, *edits).synth().directory == str(tmp_path)

    assert "UC" not in capfd.readouterr().err


def test_a_warning_is_shown_once_as_the_cdk_shows_warnings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app_with(tmp_path, reading_all).synth()

    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("[Warning at /Training/Role/DefaultPolicy/Resource] UC6453: Properties.")
    assert line.endswith("[ack: ultracluster:UC6453]")


def test_what_the_cdk_writes_for_other_purposes_only_warns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app_with(tmp_path, of_the_cdk).synth()

    lines = [each for each in capsys.readouterr().err.splitlines() if each.startswith("[Warning")]
    assert [line.split()[3] for line in lines] == ["UC6420:", "UC6420:"]


def test_an_app_can_take_the_warnings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taken: list[Finding] = []
    app = cdk.App(outdir=str(tmp_path))
    give_warnings(app, taken.extend)
    app_with(tmp_path, reading_all, app=app).synth()

    assert [finding.code for finding in taken] == ["UC6453"]
    assert capsys.readouterr().err == ""


def test_what_another_stack_adds_to_a_role_counts(tmp_path: Path) -> None:
    def half(stack: cdk.Stack) -> None:
        role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"))
        queue, definition = (
            f"arn:aws:batch:us-east-2:123456789012:{kind}" for kind in ("job-queue/a", "job-definition/b")
        )
        role.add_to_policy(iam.PolicyStatement(actions=["batch:SubmitJob"], resources=[queue]))
        other = cdk.Stack(
            stack.node.scope, "Other", env=cdk.Environment(account="123456789012", region="us-east-2")
        )
        statement = iam.PolicyStatement(actions=["batch:SubmitJob"], resources=[definition])
        iam.Policy(other, "Policy", statements=[statement], roles=[role])

    assert app_with(tmp_path, half).synth().stacks


def test_without_validation_nothing_is_checked(tmp_path: Path) -> None:
    assert app_with(tmp_path, lost).synth(skip_validation=True).stacks
