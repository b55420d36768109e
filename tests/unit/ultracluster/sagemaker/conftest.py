"""A queue of SageMaker training jobs with two shares."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from tests.unit.ultracluster.builders import new_stack
from tests.unit.ultracluster.sagemaker.training_plans import PLAN, TRN2

from ultracluster import QuotaShare, SageMakerTrainingQueue


@pytest.fixture(scope="module")
def deployed() -> cdk.Stack:
    stack = new_stack()
    queue = SageMakerTrainingQueue(
        stack,
        "Queue",
        instances={TRN2: 4, "ml.trn1.32xlarge": 8},
        shares=[
            QuotaShare(name="research", instances={TRN2: 4}),
            QuotaShare(
                name="evaluation",
                instances={"ml.trn1.32xlarge": 8, TRN2: 1},
                sharing="LEND_AND_BORROW",
                borrow_limit_percent=-1,
                preempt_within=True,
            ),
        ],
        training_plan_arn=PLAN,
    )
    queue.grant_submit(iam.User(stack, "User"))
    assert queue.share_names == ("research", "evaluation")
    assert queue.training_plan_arn == PLAN
    return stack
