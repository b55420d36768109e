import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from tests.unit.ultracluster.builders import IMAGE, IMAGE_ID, ZONE, block, of_type

from ultracluster import CapacityBlock, Job, PosixCompileCache, SharedFileSystem, UltraCluster
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.neuron import Neuron

pytestmark = pytest.mark.slow

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


def test_a_precompile_job_has_one_small_on_demand_node_beside_the_block(stack: cdk.Stack) -> None:
    whole = cluster(stack)
    first = whole.add_precompile_job("compile", Job(image=IMAGE, command=SHORT))
    second = whole.add_precompile_job("again", Job(image=IMAGE, command=SHORT))
    assert first.queue is second.queue
    environments = [
        each["Properties"]["ComputeResources"] for each in of_type(stack, "AWS::Batch::ComputeEnvironment")
    ]
    # The smallest with Trainium chips in use2-az3, DescribeInstanceTypeOfferings.
    assert sorted(
        (each["InstanceTypes"][0], each["MaxvCpus"], each["MinvCpus"]) for each in environments
    ) == [
        ("trn1.2xlarge", 8, 0),
        ("trn1.32xlarge", 512, 0),
    ]
    templates = [
        each["Properties"]["LaunchTemplateData"] for each in of_type(stack, "AWS::EC2::LaunchTemplate")
    ]
    (small,) = (each for each in templates if each["InstanceType"] == "trn1.2xlarge")
    assert "InstanceMarketOptions" not in small
    assert "CapacityReservationSpecification" not in small
    assert first.queue.nodes.network is whole.network
    assert first.queue.nodes.file_system is whole.file_system


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


def test_finds_the_small_type_of_trainium2_where_it_is_offered() -> None:
    stack = cdk.Stack(None, "Test", env=cdk.Environment(region="ap-southeast-4"))
    capacity = CapacityBlock(reservation_id="cr-0123456789abcdef0", zone_id="apse4-az3")
    job = cluster(stack, "trn2.48xlarge", capacity=capacity).add_precompile_job(
        "compile", Job(image=IMAGE, command=SHORT)
    )
    assert job.queue.nodes.instance_type.name == "trn2.3xlarge"
    assert job.workers == 4


def test_a_cluster_may_keep_its_compile_cache_on_its_file_system(stack: cdk.Stack) -> None:
    whole = cluster(stack)
    storage = SharedFileSystem(stack, "FileSystem", network=whole.network)
    other = UltraCluster(
        stack,
        "Native",
        cluster_name="native",
        instance_type="trn2.48xlarge",
        node_count=1,
        image_id=IMAGE_ID,
        zone_id=ZONE,
        network=whole.network,
        file_system=storage,
        compile_cache=PosixCompileCache(storage),
    )
    job = other.add_multi_node_job("train", Job(image=IMAGE, command=("train.py",)))
    assert job.environment["TORCH_NEURONX_NEFF_CACHE_DIR"] == "/fsx/compile-cache/torchneuron"
