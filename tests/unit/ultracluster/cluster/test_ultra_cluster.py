import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ec2 as ec2
from tests.unit.ultracluster.builders import (
    IMAGE,
    IMAGE_ID,
    REGION,
    ZONE,
    block,
    network,
    of_type,
    only,
    ultra_cluster,
)

from ultracluster import (
    CapacityBlock,
    CheckpointBucket,
    ClusterNetwork,
    CompileCache,
    Job,
    MultiNodeJob,
    Network,
    OnDemand,
    PosixCompileCache,
    Queue,
    SharedFileSystem,
    UltraCluster,
)
from ultracluster_spec.findings import FindingsError, collect
from ultracluster_spec.neuron import Neuron

pytestmark = pytest.mark.slow


def test_a_block_is_all_that_it_needs(stack: cdk.Stack) -> None:
    whole = ultra_cluster(stack, capacity=block())
    whole.add_multi_node_job("Pretrain", Job(image=IMAGE, command=("train.py",)))
    assert only(stack, "AWS::EC2::Subnet")["AvailabilityZoneId"] == ZONE
    assert of_type(stack, "AWS::EC2::PlacementGroup") == []
    assert only(stack, "AWS::Batch::ComputeEnvironment")["ComputeResources"]["MaxvCpus"] == 768
    assert len(of_type(stack, "AWS::S3::Bucket")) == 2
    assert only(stack, "AWS::Batch::JobDefinition")["NodeProperties"]["NumNodes"] == 4


def test_security_groups_are_connected_to_its_nodes(stack: cdk.Stack) -> None:
    place = network(stack)
    whole = cluster(stack, network=place, file_system="none")
    bastion = ec2.SecurityGroup(stack, "Bastion", vpc=place.vpc)
    bastion.connections.allow_to(whole, ec2.Port.tcp(22))
    whole.connections.allow_from(bastion, ec2.Port.tcp(8080))
    nodes = stack.resolve(place.security_group_id)
    rules = [each["Properties"] for each in of_type(stack, "AWS::EC2::SecurityGroupIngress")]
    assert {each.get("FromPort") for each in rules if each["GroupId"] == nodes} >= {22, 8080}


def test_uses_the_parts_that_are_passed_in(stack: cdk.Stack) -> None:
    given = network(stack)
    bucket = CheckpointBucket(stack, "Checkpoints")
    storage = SharedFileSystem(stack, "FileSystem", network=given, checkpoint_bucket=bucket.bucket)
    cache = CompileCache(stack, "Cache")
    whole = ultra_cluster(
        stack,
        capacity=block(),
        network=given,
        checkpoint_bucket=bucket,
        file_system=storage,
        compile_cache=cache,
    )
    assert (whole.network, whole.file_system, whole.compile_cache) == (given, storage, cache)
    assert whole.checkpoint_bucket is bucket
    assert len(of_type(stack, "AWS::EC2::VPC")) == len(of_type(stack, "AWS::FSx::FileSystem")) == 1
    assert len(of_type(stack, "AWS::S3::Bucket")) == 2


@pytest.mark.parametrize("tags", [{}, {"team": "research"}])
def test_instances_volumes_and_interfaces_carry_the_tags_and_that_of_the_cluster(
    stack: cdk.Stack, tags: dict[str, str]
) -> None:
    ultra_cluster(stack, tags=tags)
    carried = only(stack, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"].get("TagSpecifications", [])
    wanted = tags | {"ultracluster:cluster": stack.stack_name}
    assert [
        (each["ResourceType"], {tag["Key"]: tag["Value"] for tag in each["Tags"]}) for each in carried
    ] == [(kind, wanted) for kind in ("instance", "volume", "network-interface")]


def test_storage_carries_the_name_of_the_cluster_by_which_costs_are_found(stack: cdk.Stack) -> None:
    ultra_cluster(stack, tags={"ultracluster:cluster": "pretrain"})
    kinds = ("AWS::FSx::FileSystem", "AWS::S3::Bucket", "AWS::Batch::JobQueue")
    carried = [each["Properties"]["Tags"] for kind in kinds for each in of_type(stack, kind)]
    assert carried
    for tags in carried:
        assert tags in (
            {"ultracluster:cluster": "pretrain"},
            [{"Key": "ultracluster:cluster", "Value": "pretrain"}],
        )


def test_tags_leave_compute_environments_alone_which_they_would_replace(stack: cdk.Stack) -> None:
    ultra_cluster(stack)
    assert "Tags" not in only(stack, "AWS::Batch::ComputeEnvironment")


def test_the_name_of_a_queue_can_be_typed_in_a_command(stack: cdk.Stack) -> None:
    whole = ultra_cluster(stack)
    for name in ("high priority!", "", "Urgent", "a" * 33):
        with pytest.raises(FindingsError, match=r"UC2101: \S+: name: "):
            whole.add_queue(name)
    whole.add_queue("high-priority")


@pytest.mark.parametrize(("argument", "code"), [("zone_id", "UC3003"), ("cluster_name", "UC2101")])
def test_an_empty_text_is_not_taken_for_a_default(stack: cdk.Stack, argument: str, code: str) -> None:
    with pytest.raises(FindingsError, match=f"{code}: Test/Cluster: {argument}: "):
        ultra_cluster(stack, **{"zone_id": ZONE, argument: ""})


def test_all_findings_about_a_cluster_are_reported_at_once(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError) as refused:
        UltraCluster(
            stack,
            "Cluster",
            instance_type="trn9.large",
            node_count=0,
            image_id="ubuntu",
            zone_id="usw2-az9",
            queue=Queue(priority=-1, capacity=("spot",)),
            notify=["jane"],
            removal_policy=cdk.RemovalPolicy.SNAPSHOT,
            network=Network(endpoints=("logs",), vpc_id="vpc-1"),
        )

    assert {each.code for each in refused.value.findings} == {
        *("UC4001", "UC6312", "UC4110", "UC4101", "UC6305", "UC3102", "UC6449", "UC5217", "UC3112", "UC3107"),
    }
    assert stack.node.children == []


def test_a_taken_name_and_settings_of_parts_are_reported_with_the_other_findings(stack: cdk.Stack) -> None:
    ultra_cluster(stack, cluster_name="taken")
    wrong: dict[str, Any] = {
        "node_count": 0,
        "cluster_name": "taken",
        "tags": {"ultracluster:cluster": "other"},
        "scratch_path": "/fsx",
        "checkpoint_lead": cdk.Duration.hours(13),
        "max_refusals": 0,
    }
    with pytest.raises(FindingsError) as refused:
        ultra_cluster(stack, "Second", capacity=block(), **wrong)
    assert sorted((each.path, each.code) for each in refused.value.findings) == [
        ("checkpoint_lead", "UC4117"),
        *[("cluster_name", "UC2160")] * 2,
        ("max_refusals", "UC4129"),
        ("node_count", "UC4101"),
        ("scratch_path", "UC4027"),
    ]
    fitting = {
        "node_count": 4,
        "cluster_name": "third",
        "tags": {},
        "scratch_path": None,
        "checkpoint_lead": None,
    }
    with pytest.raises(FindingsError, match=r"^UC4129: Test/Third: max_refusals: got 0\."):
        ultra_cluster(stack, "Third", capacity=block(), **wrong | fitting)
    assert (
        ultra_cluster(stack, "Third", capacity=block(), **wrong | fitting | {"max_refusals": 1}).cluster_name
        == "third"
    )


def test_findings_about_capacity_and_network_come_with_the_others(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError) as refused:
        ultra_cluster(
            stack,
            node_count=0,
            capacity=[
                CapacityBlock(reservation_id="cb-1", zone_id=ZONE),
                OnDemand(name="Spill", max_nodes=0),
            ],
            network=ec2.Vpc(stack, "Vpc"),
        )

    assert [(each.code, each.path) for each in refused.value.findings] == [
        ("UC4109", "capacity[0].reservation_id"),
        ("UC4123", "capacity[1].name"),
        ("UC4101", "capacity[1].max_nodes"),
        ("UC4101", "node_count"),
        ("UC3113", "vpc_subnets"),
    ]


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"vpc_subnets": ec2.SubnetSelection(one_per_az=True)}, "vpc_subnets"),
        ({"network": True, "vpc_subnets": ec2.SubnetSelection(one_per_az=True)}, "vpc_subnets"),
        ({"network": Network(), "vpc_subnets": ec2.SubnetSelection(one_per_az=True)}, "vpc_subnets"),
        ({"network": Network(placement="ours"), "placement": "none"}, "placement"),
    ],
)
def test_refuses_what_belongs_to_another_network(
    stack: cdk.Stack, arguments: dict[str, Any], path: str
) -> None:
    if arguments.get("network") is True:
        arguments = arguments | {"network": network(stack)}
    with pytest.raises(FindingsError) as refused:
        ultra_cluster(stack, **arguments)
    assert [(each.code, each.path) for each in refused.value.findings] == [("UC3110", path)]


def test_an_existing_subnet_and_its_groups_are_used_as_a_value_names_them(stack: cdk.Stack) -> None:
    described = Network(
        vpc_id="vpc-0123456789abcdef0",
        subnet_id="subnet-0123456789abcdef0",
        security_group_id="sg-0123456789abcdef0",
        add_efa_rules=True,
        default_security_group_id="sg-0123456789abcdef1",
        nic_layout="all-efa",
        placement="ours",
    )
    whole = ultra_cluster(stack, network=described)

    assert (whole.network.vpc_id, whole.network.subnet_id) == (described.vpc_id, described.subnet_id)
    environment = only(stack, "AWS::Batch::ComputeEnvironment")["ComputeResources"]
    assert environment["Subnets"] == ["subnet-0123456789abcdef0"]
    template = only(stack, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]
    assert {each["InterfaceType"] for each in template["NetworkInterfaces"]} == {"efa"}
    assert {str(each["Groups"]) for each in template["NetworkInterfaces"]} == {"['sg-0123456789abcdef0']"}
    changed = {
        str(each["Properties"]["GroupId"]) for each in of_type(stack, "AWS::EC2::SecurityGroupIngress")
    }
    assert {"sg-0123456789abcdef0", "sg-0123456789abcdef1"} <= changed
    assert of_type(stack, "AWS::EC2::VPC") == []
    assert whole.nodes.placement
    assert whole.nodes.placement.placement_group_name == "ours"


def test_a_value_adds_endpoints_and_the_accounts_and_buckets_that_they_let_pass(stack: cdk.Stack) -> None:
    given = Network(
        endpoints=("secretsmanager",),
        allowed_accounts=("210987654321",),
        allowed_buckets=("corpus-of-partner",),
    )
    ultra_cluster(stack, network=given)
    endpoints = [each["Properties"] for each in of_type(stack, "AWS::EC2::VPCEndpoint")]
    assert any(".secretsmanager" in json.dumps(each["ServiceName"]) for each in endpoints)
    (s3,) = [each for each in endpoints if each["VpcEndpointType"] == "Gateway"]
    policy = json.dumps(s3["PolicyDocument"])
    assert "210987654321" in policy
    assert "corpus-of-partner" in policy


@pytest.mark.parametrize("kind", ["own", "attributes", "lookup"])
def test_takes_a_vpc_of_the_cdk(kind: str) -> None:
    stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(account="123456789012", region=REGION))
    imported = {"vpc_id": "vpc-0123456789abcdef0", "availability_zones": ["us-east-2b", "us-east-2c"]}
    vpc = {
        "own": lambda: ec2.Vpc(stack, "Vpc", availability_zones=["us-east-2b", "us-east-2c"]),
        "attributes": lambda: ec2.Vpc.from_vpc_attributes(
            stack, "Vpc", **imported, private_subnet_ids=["subnet-b", "subnet-c"]
        ),
        # Without context: the CDK answers with placeholders, and looks up after this synthesis.
        "lookup": lambda: ec2.Vpc.from_lookup(stack, "Vpc", vpc_id=imported["vpc_id"]),
    }[kind]()
    wanted = ec2.SubnetSelection(availability_zones=["us-east-2c"])
    whole = ultra_cluster(stack, network=vpc, vpc_subnets=wanted)
    expected = {
        "own": lambda: stack.resolve(vpc.private_subnets[1].subnet_id),
        "attributes": lambda: "subnet-c",
        "lookup": lambda: "p-12345",
    }[kind]()
    environment = only(stack, "AWS::Batch::ComputeEnvironment")
    assert environment["ComputeResources"]["Subnets"] == [expected]
    assert stack.resolve(whole.network.vpc_id) == stack.resolve(vpc.vpc_id)
    assert of_type(stack, "AWS::EC2::VPCEndpoint") == []


def test_the_second_cluster_of_a_stack_needs_a_name_of_its_own(stack: cdk.Stack) -> None:
    first = ultra_cluster(stack, capacity=block(), notify=["you@example.com"])
    given = {"instance_type": "trn2.48xlarge", "node_count": 4, "image_id": IMAGE_ID, "zone_id": ZONE}
    with pytest.raises(FindingsError) as refused:
        UltraCluster(stack, "Second", **given)
    assert str(refused.value).startswith(
        "UC2160: Test/Second: cluster_name: 'Test' is the name of the cluster 'Test/Cluster'"
    )
    assert str(refused.value).endswith('Set cluster_name, such as "Test-Second".')

    second = UltraCluster(
        stack,
        "Third",
        **given | {"zone_id": None, "capacity": CapacityBlock(reservation_id=f"cr-{'1' * 17}", zone_id=ZONE)},
        cluster_name="third",
        notify=["you@example.com"],
    )
    job = MultiNodeJob(stack, "Train", Job(image=IMAGE, command=("train.py",)), queue=second.queue)
    assert first.cluster_name == first.nodes.cluster_name == "Test"
    assert second.cluster_name == second.nodes.cluster_name == job.environment["UC_CLUSTER"] == "third"
    names = {
        each["Properties"]["Environment"]["Variables"]["UC_CLUSTER"]
        for each in of_type(stack, "AWS::Lambda::Function")
        if "UC_CLUSTER" in each["Properties"]["Environment"]["Variables"]
    }
    assert names == {"Test", "third"}


@pytest.mark.parametrize(
    ("places", "is_free"),
    [
        ([("A", "us-east-2", "111122223333"), ("B", "us-east-2", "111122223333")], False),
        ([("A", "us-east-2", "111122223333"), ("B", "us-east-2", "444455556666")], True),
        ([("A", "us-east-2", "111122223333"), ("B", "us-west-2", "111122223333")], True),
        ([("A", "us-east-2", None), ("B", "us-east-2", None)], False),
        ([("Test/A", "us-east-2", None), ("Prod/A", "us-east-2", None)], True),
        ([("Test/A", "us-east-2", "111122223333"), ("Prod/A", "us-east-2", "111122223333")], False),
    ],
)
def test_a_name_is_unique_in_an_account_and_region(
    places: list[tuple[str, str, str | None]], *, is_free: bool
) -> None:
    app = cdk.App(analytics_reporting=False)
    found = []
    for path, region, account in places:
        *stage, name = path.split("/")
        scope = cdk.Stage(app, stage[0]) if stage else app
        stack = cdk.Stack(scope, name, env=cdk.Environment(region=region, account=account))
        zone = {"us-east-2": "use2-az3", "us-west-2": "usw2-az4"}[region]
        collect(
            found, lambda stack=stack, zone=zone: ultra_cluster(stack, zone_id=zone, cluster_name="llama")
        )
    assert [each.code for each in found] == ([] if is_free else ["UC2160"])


def test_a_name_and_a_block_are_free_again_when_the_app_removes_their_cluster(stack: cdk.Stack) -> None:
    ultra_cluster(stack, capacity=block(), notify=["you@example.com"])
    stack.node.try_remove_child("Cluster")
    again = UltraCluster(
        stack,
        "Again",
        instance_type="trn2.48xlarge",
        node_count=4,
        image_id=IMAGE_ID,
        capacity=block(),
        notify=["you@example.com"],
    )
    assert again.cluster_name == "Test"


def test_what_the_cdk_says_of_ids_and_scopes_comes_with_the_path(stack: cdk.Stack) -> None:
    given = {"instance_type": "trn2.48xlarge", "node_count": 4, "image_id": IMAGE_ID, "zone_id": ZONE}
    cluster = UltraCluster(stack, "Cluster", **given)
    cluster.add_queue("low", Queue(priority=1))
    for add, told in (
        (lambda: UltraCluster(stack, "Cluster", **given), "Test/Cluster: There is already a Construct with"),
        (lambda: cluster.add_queue("low", Queue()), "Test/Cluster/Queue-low: There is already a Construct"),
        (lambda: UltraCluster(cdk.App(), "Cluster", **given), "Cluster: App at '' should be created in the"),
        (
            lambda: cluster.add_multi_node_job("", Job(image=IMAGE, command=("a",))),
            "Test/Cluster: Only root constructs may have an empty ID",
        ),
    ):
        with pytest.raises(FindingsError, match=f"^error: {told}"):
            add()


def test_a_rule_of_rollout_files_about_tags_holds_for_those_of_a_cluster(stack: cdk.Stack) -> None:
    for tags, told in (
        ({"aws:x": "1"}, r"tags\.aws:x: got 'aws:x'\. Allowed: .* without the reserved prefix aws:"),
        ({f"k{number}": "v" for number in range(41)}, "tags: got 41 tags"),
        ({"team": "x" * 257}, r"tags\.team: got"),
    ):
        with pytest.raises(FindingsError, match=f"^UC2107: Test/Cluster: {told}"):
            ultra_cluster(stack, tags=tags)
    unknown = cdk.CfnParameter(stack, "Team").value_as_string
    ultra_cluster(stack, tags={f"k{number}": unknown for number in range(40)})


def test_a_number_of_nodes_of_zero_is_shown_as_it_was_given(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match=r"UC4101: Test/Cluster: node_count: got 0\. Allowed: 1 to"):
        ultra_cluster(stack, node_count=0)


def test_a_name_of_rollout_files_is_told_its_name_in_python(stack: cdk.Stack) -> None:
    for given, meant in (("nodes", "node_count"), ("name", "cluster_name")):
        with pytest.raises(TypeError, match=rf"Did you mean '{meant}'\?"):
            ultra_cluster(stack, **{given: 4})


def test_a_cluster_in_a_nested_stack_has_the_name_of_the_outermost_stack(stack: cdk.Stack) -> None:
    nested = cdk.NestedStack(cdk.NestedStack(stack, "Outer"), "Inner")
    whole = ultra_cluster(nested, capacity=block(), notify=["you@example.com"])
    assert whole.cluster_name == whole.nodes.cluster_name == "Test"
    stack.node.root.synth()  # type: ignore[attr-defined] - the root is an app


def test_a_cluster_has_one_name_in_its_tag_and_elsewhere(stack: cdk.Stack) -> None:
    with pytest.raises(
        FindingsError, match=r"UC2160: \S+: cluster_name: got 'a', and the tag .* 'b'. Remove the tag"
    ):
        ultra_cluster(stack, cluster_name="a", tags={"ultracluster:cluster": "b"})
    assert ultra_cluster(stack, tags={"ultracluster:cluster": "b"}).cluster_name == "b"


@pytest.mark.parametrize("place", ["new", "of a network", "of a VPC", "with an ID", "own"])
def test_a_file_system_is_in_the_network_of_the_nodes(stack: cdk.Stack, place: str) -> None:
    there = network(stack)
    options: dict[str, object] = {
        "new": dict,
        "own": lambda: {"network": there},
        "of a network": lambda: {
            "network": ClusterNetwork(
                stack, "Here", zone_id=ZONE, instance_type="trn2.48xlarge", node_count=4
            )
        },
        "of a VPC": lambda: {"network": ec2.Vpc(stack, "Vpc", max_azs=1)},
        "with an ID": lambda: {
            "network": Network(vpc_id="vpc-0123456789abcdef0", subnet_id="subnet-0123456789abcdef0")
        },
    }[place]()
    files = SharedFileSystem(stack, "FileSystem", network=there)
    if place == "own":
        ultra_cluster(stack, file_system=files, **options)
        return
    with pytest.raises(
        FindingsError, match=r"UC5060: \S+: file_system: the file system 'Test/FileSystem' is in another"
    ):
        ultra_cluster(stack, file_system=files, **options)


def test_a_vpc_whose_default_group_the_cdk_empties_is_refused_until_its_rules_are_added(
    stack: cdk.Stack,
) -> None:
    stack.node.set_context("@aws-cdk/aws-ec2:restrictDefaultSecurityGroup", value=True)
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    with pytest.raises(
        FindingsError, match=r"UC3260: \S+: network: the CDK removes the rules of the default"
    ):
        ultra_cluster(stack, network=vpc)

    group = ec2.SecurityGroup.from_security_group_id(stack, "Default", vpc.vpc_default_security_group)
    filled = ClusterNetwork.from_subnet(
        stack,
        "Filled",
        vpc=vpc,
        zone_id=ZONE,
        instance_type="trn2.48xlarge",
        node_count=4,
        default_security_group=group,
    )
    ultra_cluster(stack, network=filled)
    rules = [
        each
        for each in of_type(stack, "AWS::EC2::SecurityGroupIngress")
        if each["Properties"]["Description"] == "From other tasks of multi-node jobs"
    ]
    assert any("RestrictDefaultSecurityGroup" in name for rule in rules for name in rule["DependsOn"])


SHORT = ["train.py", "--steps", "10"]


def cluster(stack: cdk.Stack, instance_type: str = "trn1.32xlarge", **changes: object) -> UltraCluster:
    given = {"instance_type": instance_type, "node_count": 4, "image_id": IMAGE_ID, "capacity": block()}
    return UltraCluster(stack, "Cluster", **given | changes)


def test_every_kind_of_job_gets_what_the_cluster_has(stack: cdk.Stack) -> None:
    whole = cluster(stack)
    settings = Neuron(optlevel=1)
    compiled = whole.add_precompile_job("compile", Job(image=IMAGE, command=SHORT, neuron=settings))
    trained = whole.add_multi_node_job(
        "train", Job(image=IMAGE, command=("train.py",), neuron=settings), depends_on=[compiled]
    )
    rated = whole.add_single_node_job(
        "rate", Job(image=IMAGE, command=("rate.py",), array_size=8, neuron=settings), depends_on=[trained]
    )
    assert (trained.queue, rated.queue) == (whole.queue, whole.queue)
    assert compiled.queue is not whole.queue
    for job in (compiled, trained, rated):
        assert (
            job.environment["NEURON_COMPILE_CACHE_URL"]
            == whole.compile_cache.environment["NEURON_COMPILE_CACHE_URL"]
        )
        assert job.environment["NEURON_CC_FLAGS"] == "--retry_failed_compilation --optlevel=1"
    found = assertions.Template.from_stack(stack).find_resources("AWS::IAM::Policy")
    for name in ("compile", "train", "rate"):
        (policies,) = (
            str(policy["Properties"]) for key, policy in found.items() if key.startswith(f"Cluster{name}Role")
        )
        assert "s3:PutObject" in policies
        assert "Checkpoints" in policies
        assert "CompileCache" in policies


def test_does_not_guess_where_to_compile_when_no_small_type_is_offered(stack: cdk.Stack) -> None:
    # trn2.3xlarge is not offered in the zones where blocks of trn2.48xlarge are sold.
    whole = cluster(stack, "trn2.48xlarge")
    with pytest.raises(FindingsError, match=r"UC6116: \S+: instance_type: .*on a node of the cluster"):
        whole.add_precompile_job("compile", Job(image=IMAGE, command=SHORT))
    on_cluster = whole.add_precompile_job("here", Job(image=IMAGE, command=SHORT), queue=whole.queue)
    assert on_cluster.queue is whole.queue
    elsewhere = whole.add_precompile_job(
        "elsewhere", Job(image=IMAGE, command=SHORT, instance_type="trn1.2xlarge", phase="compile")
    )
    assert elsewhere.environment["NEURON_PLATFORM_TARGET_OVERRIDE"] == "trn2"


def test_a_cluster_may_keep_its_compile_cache_on_its_file_system(stack: cdk.Stack) -> None:
    whole = cluster(stack)
    storage = SharedFileSystem(stack, "FileSystem", network=whole.network)
    other = ultra_cluster(
        stack,
        "Native",
        cluster_name="native",
        node_count=1,
        network=whole.network,
        file_system=storage,
        compile_cache=PosixCompileCache(storage),
    )
    job = other.add_multi_node_job("train", Job(image=IMAGE, command=("train.py",)))
    assert job.environment["TORCH_NEURONX_NEFF_CACHE_DIR"] == "/fsx/compile-cache/torchneuron"
