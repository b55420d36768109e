from typing import Any

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import only, queue
from tests.unit.ultracluster.jobs.defined_jobs import single_node_job

from ultracluster import CompileCache
from ultracluster_spec.neuron import Neuron

pytestmark = pytest.mark.slow


def definition(stack: cdk.Stack) -> dict[str, Any]:
    return only(stack, "AWS::Batch::JobDefinition")


def test_settings_and_cache_and_environment_become_one_set_of_variables(stack: cdk.Stack) -> None:
    made = single_node_job(
        stack,
        compile_cache=CompileCache(stack, "Cache"),
        neuron=Neuron(logical_nc_config=1, optlevel=1, exec_timeout_seconds=60),
        environment={"NEURON_CC_FLAGS": "-O1 --retry_failed_compilation --verbose=info", "SEED": "1"},
    )
    variables = {
        each["Name"]: each["Value"] for each in definition(stack)["ContainerProperties"]["Environment"]
    }
    assert variables["NEURON_CC_FLAGS"] == (
        "--retry_failed_compilation --logical-nc-config=1 --optlevel=1 --verbose=info"
    )
    assert variables.items() >= {"NEURON_LOGICAL_NC_CONFIG": "1", "NEURON_RT_EXEC_TIMEOUT": "60"}.items()
    # Twice the 64 of a trn2.48xlarge with two physical cores in each.
    assert variables["UC_PROCESSES_PER_NODE"] == "128"
    assert made.workers == 128
    assert made.environment["SEED"] == "1"


def test_the_dependencies_of_a_job_are_stored_for_its_submission(stack: cdk.Stack) -> None:
    training = queue(stack)
    before = [single_node_job(stack, name, queue=training) for name in ("Fetch", "Clean")]
    made = single_node_job(stack, queue=training, depends_on=before)
    assert made.depends_on == tuple(before)
    template = cdk.assertions.Template.from_stack(stack)
    template.has_resource_properties(
        "AWS::Batch::JobDefinition", {"Tags": {"ultracluster:after": "Fetch Clean"}}
    )
