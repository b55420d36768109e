import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from tests.unit.ultracluster.builders import queue

from ultracluster import Job, MultiNodeJob, SingleNodeJob
from ultracluster_spec.images import neuron_container
from ultracluster_spec.instance_type import get_instance_type

pytestmark = pytest.mark.slow

REGISTRY = "123456789012.dkr.ecr.us-east-2.amazonaws.com/neuron"


@pytest.mark.parametrize(("made_for", "warns"), [("trn2.48xlarge", True), ("trn1.32xlarge", False)])
def test_a_job_warns_about_an_image_that_is_not_made_for_its_chips(
    stack: cdk.Stack, made_for: str, warns: bool
) -> None:
    image = neuron_container("vllm", get_instance_type(made_for)).uri(REGISTRY)
    nodes = queue(stack, instance_type="trn1.32xlarge")
    MultiNodeJob(stack, "Many", Job(image=image, command=("train.py",)), queue=nodes)
    SingleNodeJob(stack, "One", Job(image=image, command=("train.py",)), queue=nodes)

    found = assertions.Annotations.from_stack(stack).find_warning(
        "*", assertions.Match.string_like_regexp("UC6330.*trn1.32xlarge has Trainium")
    )
    assert len(found) == (2 if warns else 0)
