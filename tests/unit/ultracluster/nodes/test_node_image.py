import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_ssm as ssm
from tests.unit.ultracluster.builders import IMAGE, IMAGE_ID, ZONE, nodes, of_type, only, ultra_cluster

from ultracluster import ClusterNetwork, Job
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


def test_a_cluster_takes_the_types_images_and_buckets_of_the_cdk(stack: cdk.Stack) -> None:
    cluster = ultra_cluster(
        stack,
        instance_type=ec2.InstanceType("trn2.48xlarge"),
        image_id=ec2.MachineImage.generic_linux({"us-east-2": IMAGE_ID}),
        checkpoint_bucket=s3.Bucket.from_bucket_name(stack, "Mine", "my-checkpoints"),
        compile_cache=s3.Bucket.from_bucket_name(stack, "Cache", "my-cache"),
    )
    job = cluster.add_multi_node_job("Train", Job(image=IMAGE, command=("train.py",)))

    template = only(stack, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]
    assert (template["ImageId"], template["InstanceType"]) == (IMAGE_ID, "trn2.48xlarge")
    assert job.environment["NEURON_COMPILE_CACHE_URL"] == "s3://my-cache/neuron"
    assert cluster.checkpoint_bucket is not None
    assert cluster.checkpoint_bucket.bucket_name == "my-checkpoints"
    assert of_type(stack, "AWS::S3::Bucket") == []


def test_an_image_that_is_looked_up_at_deployment_is_refused(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError) as refused:
        nodes(stack, image_id=ec2.MachineImage.latest_amazon_linux2023())
    assert str(refused.value).startswith("UC4110: Test/Nodes: image_id: the image is looked up at deployment")
    assert "\n" not in str(refused.value)


def test_a_type_that_is_known_at_deployment_only_is_refused_in_one_line(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError) as refused:
        nodes(
            stack,
            instance_type=cdk.CfnParameter(stack, "Type").value_as_string,
            network=ClusterNetwork(
                stack, "Network", zone_id=ZONE, instance_type="trn2.48xlarge", node_count=2
            ),
        )
    assert str(refused.value).startswith(
        "UC4001: Test/Nodes: instance_type: got a token, which has no value before deployment"
    )
    assert "Token[" not in str(refused.value)


def test_a_bucket_instead_of_a_network_is_refused_by_its_class(stack: cdk.Stack) -> None:
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "my-cache")
    with pytest.raises(FindingsError) as refused:
        ultra_cluster(
            stack,
            network=bucket,  # type: ignore[arg-type] - the mistake
        )
    assert str(refused.value).startswith("UC1032: Test/Cluster: network: got an object of ")
    assert str(refused.value).endswith("Allowed: ClusterNetwork or ec2.IVpc or Network or None.")


@pytest.mark.parametrize(
    "image",
    [
        lambda _: ec2.MachineImage.lookup(name="nodes-*", owners=["123456789012"]),
        lambda _: ec2.MachineImage.from_ssm_parameter("/nodes", cached_in_context=True),
        lambda stack: ssm.StringParameter.value_from_lookup(stack, "/nodes"),
    ],
)
def test_an_image_that_the_cdk_looks_up_passes_before_and_after_the_look_up(
    image: Callable[[cdk.Stack], ec2.IMachineImage | str],
) -> None:
    def synthesized(context: dict[str, str]) -> tuple[Any, list[Any]]:
        app = cdk.App(context=context, analytics_reporting=False)
        stack = cdk.Stack(app, "Test", env=cdk.Environment(region="us-east-2", account="123456789012"))
        ultra_cluster(
            stack,
            image_id=image(stack),
        )
        manifest = json.loads(Path(app.synth().directory, "manifest.json").read_text(encoding="utf-8"))
        return only(stack, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]["ImageId"], manifest.get(
            "missing", []
        )

    _, (asked,) = synthesized({})
    assert synthesized({asked["key"]: IMAGE_ID}) == (IMAGE_ID, [])
    with pytest.raises(FindingsError, match=r"UC4110: \S+: image_id: got 'ami-1'"):
        synthesized({asked["key"]: "ami-1"})


def test_an_id_that_a_parameter_gives_at_each_deployment_is_refused_like_such_an_image(
    stack: cdk.Stack,
) -> None:
    with pytest.raises(FindingsError, match=r"UC4110: \S+: image_id: the image is looked up at deployment"):
        nodes(stack, image_id=ssm.StringParameter.value_for_string_parameter(stack, "/nodes"))


def test_an_id_that_a_parameter_of_the_template_gives_is_taken(stack: cdk.Stack) -> None:
    nodes(stack, image_id=cdk.CfnParameter(stack, "Ami").value_as_string)
    assert only(stack, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]["ImageId"] == {"Ref": "Ami"}
