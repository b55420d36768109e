import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from tests.unit.ultracluster.builders import IMAGE, IMAGE_ID, ZONE, nodes, of_type, only

from ultracluster import ClusterNetwork, Job, UltraCluster
from ultracluster_rules.findings import FindingsError

pytestmark = pytest.mark.slow


def test_a_cluster_takes_the_types_images_and_buckets_of_the_cdk(stack: cdk.Stack) -> None:
    cluster = UltraCluster(
        stack,
        "Cluster",
        instance_type=ec2.InstanceType("trn2.48xlarge"),
        node_count=2,
        image_id=ec2.MachineImage.generic_linux({"us-east-2": IMAGE_ID}),
        zone_id=ZONE,
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
    assert str(refused.value).startswith("UC4110: image_id: the image is looked up at deployment")
    assert "\n" not in str(refused.value)


def test_an_id_that_is_none_is_refused_by_the_name_of_its_argument(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError, match=r"UC4110: image_id: got 'ami-0123'"):
        nodes(stack, image_id="ami-0123")


def test_a_type_that_is_known_at_deployment_only_is_refused_in_one_line(stack: cdk.Stack) -> None:
    with pytest.raises(FindingsError) as refused:
        nodes(
            stack,
            instance_type=cdk.CfnParameter(stack, "Type").value_as_string,
            network=ClusterNetwork(
                stack, "Network", zone_id=ZONE, instance_type="trn2.48xlarge", node_count=2
            ),
        )
    assert str(refused.value).startswith("UC4001: got a token, which has no value before deployment")
    assert "Token[" not in str(refused.value)


def test_a_bucket_instead_of_a_network_is_refused_by_its_class(stack: cdk.Stack) -> None:
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "my-cache")
    with pytest.raises(FindingsError) as refused:
        UltraCluster(
            stack,
            "Cluster",
            instance_type="trn2.48xlarge",
            node_count=2,
            image_id=IMAGE_ID,
            network=bucket,  # type: ignore[arg-type] - the mistake
        )
    assert str(refused.value).startswith("UC1032: network: got an object of ")
    assert str(refused.value).endswith("Allowed: ClusterNetwork or IVpc or Network or None.")
