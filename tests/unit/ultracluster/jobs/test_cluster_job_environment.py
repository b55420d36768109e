"""The environment of a job."""

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.jobs.job_variables import cluster_environment, stack_of
from tests.unit.ultracluster.jobs.multi_node_jobs import environment, job

from ultracluster import CompileCache
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


def test_collectives_use_efa_or_fail(stack: cdk.Stack) -> None:
    job(stack)
    assert environment(stack).items() >= {"FI_PROVIDER": "efa", "FI_EFA_USE_DEVICE_RDMA": "1"}.items()


def test_uses_the_compile_cache_and_keeps_the_users_compiler_flags(stack: cdk.Stack) -> None:
    cache = CompileCache(stack, "Cache")
    job(stack, compile_cache=cache, environment={"NEURON_CC_FLAGS": "--model-type transformer", "SEED": "1"})
    assert environment(stack)["NEURON_CC_FLAGS"] == "--retry_failed_compilation --model-type transformer"
    assert environment(stack)["NEURON_COMPILE_CACHE_URL"] == stack.resolve(cache.url)
    assert environment(stack)["SEED"] == "1"


@pytest.mark.parametrize(
    ("environment", "code"),
    [
        ({"AWS_BATCH_JOB_NODE_INDEX": "0"}, "UC6109"),
        ({"UC_PROCESSES_PER_NODE": "1"}, "UC6109"),
        ({"UC_DEVICES_PER_NODE": "1"}, "UC6109"),
        ({"NEURON_CC_FLAGS": "--cache_dir=s3://elsewhere"}, "UC6010"),
    ],
)
def test_rejects_variables_that_would_break_the_job(
    stack: cdk.Stack, environment: dict[str, str], code: str
) -> None:
    with pytest.raises(FindingsError, match=code):
        job(stack, environment=environment)


def test_a_chip_without_a_known_peak_gets_none(app: cdk.App) -> None:
    assert "UC_PEAK_TFLOPS" not in cluster_environment(stack_of(app, "Other"), "p4d.24xlarge")


def test_a_name_set_by_the_user_wins(app: cdk.App) -> None:
    assert (
        cluster_environment(stack_of(app, "Given"), "trn2.48xlarge", UC_JOB="sweep-3")["UC_JOB"] == "sweep-3"
    )
