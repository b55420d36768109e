"""The environment of a job."""

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.jobs.job_variables import cluster_environment, stack_of

pytestmark = pytest.mark.slow


def test_a_chip_without_a_known_peak_gets_none(app: cdk.App) -> None:
    assert "UC_PEAK_TFLOPS" not in cluster_environment(stack_of(app, "Other"), "p4d.24xlarge")


def test_a_name_set_by_the_user_wins(app: cdk.App) -> None:
    assert (
        cluster_environment(stack_of(app, "Given"), "trn2.48xlarge", UC_JOB="sweep-3")["UC_JOB"] == "sweep-3"
    )
