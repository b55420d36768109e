"""A training queue on a plan."""

from typing import Any

import pytest
from tests.unit.ultracluster.builders import new_stack

from ultracluster import SageMakerTrainingQueue
from ultracluster_spec.findings import FindingsError

TRN2 = "ml.trn2.48xlarge"
PLAN = "arn:aws:sagemaker:us-east-2:123456789012:training-plan/pretrain"


def queue(**changes: Any) -> SageMakerTrainingQueue:
    return SageMakerTrainingQueue(new_stack(), "Queue", **{"instances": {TRN2: 4}} | changes)


def codes(**changes: Any) -> list[str]:
    with pytest.raises(FindingsError) as caught:
        queue(**changes)
    return [f"{finding.code} {finding.path}" for finding in caught.value.findings]
