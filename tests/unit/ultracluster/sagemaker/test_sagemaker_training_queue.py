import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import of_type, only
from tests.unit.ultracluster.sagemaker.training_plans import PLAN, TRN2, codes, queue

pytestmark = pytest.mark.slow


def test_only_the_named_types_can_run(deployed: cdk.Stack) -> None:
    environment = only(deployed, "AWS::Batch::ServiceEnvironment")
    assert environment["CapacityLimits"] == [
        {"CapacityUnit": TRN2, "MaxCapacity": 4},
        {"CapacityUnit": "ml.trn1.32xlarge", "MaxCapacity": 8},
    ]
    assert environment["ServiceEnvironmentType"] == "SAGEMAKER_TRAINING"


def test_submitters_hand_over_the_execution_role_to_sagemaker_only(deployed: cdk.Stack) -> None:
    (policy,) = [
        one["Properties"]["PolicyDocument"]["Statement"]
        for one in of_type(deployed, "AWS::IAM::Policy")
        if "Users" in one["Properties"]
    ]
    actions = {str(statement["Action"]): statement for statement in policy}
    assert len(actions["batch:SubmitServiceJob"]["Resource"]) == 2
    passed = actions["iam:PassRole"]
    assert passed["Condition"] == {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}
    assert passed["Resource"]["Fn::GetAtt"][0].startswith("QueueExecutionRole")


def test_the_execution_role_is_for_sagemaker_of_this_account_and_for_logs_and_metrics(
    deployed: cdk.Stack,
) -> None:
    role = only(deployed, "AWS::IAM::Role")["AssumeRolePolicyDocument"]["Statement"][0]
    assert role["Principal"] == {"Service": "sagemaker.amazonaws.com"}
    assert role["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    statements = [
        statement
        for one in of_type(deployed, "AWS::IAM::Policy")
        for statement in one["Properties"]["PolicyDocument"]["Statement"]
    ]
    everywhere = [one for one in statements if one["Resource"] == "*"]
    assert [one.get("Sid") for one in everywhere if one.get("Sid")] == ["Metrics"]
    assert everywhere[0]["Condition"] == {
        "StringEquals": {"cloudwatch:namespace": "/aws/sagemaker/TrainingJobs"}
    }


@pytest.mark.parametrize(
    ("instances", "expected"),
    [
        ({"trn2.48xlarge": 1}, ["UC6334 instances"]),
        ({"ml.trn2.3xlarge": 1}, ["UC6334 instances"]),
        ({}, ["UC6335 instances", "UC6336 shares[0].instances"]),
        ({TRN2: 0}, [f"UC6335 instances.{TRN2}", f"UC6336 shares[0].instances.{TRN2}"]),
        (
            dict.fromkeys(
                [
                    TRN2,
                    "ml.trn1.2xlarge",
                    "ml.trn1.32xlarge",
                    "ml.p5.48xlarge",
                    "ml.p4d.24xlarge",
                    "ml.p5e.48xlarge",
                ],
                1,
            ),
            ["UC6335 instances"],
        ),
    ],
)
def test_rejects_instances_that_cannot_train(instances: dict[str, int], expected: list[str]) -> None:
    assert codes(instances=instances) == expected


def test_accepts_five_types_and_one_instance() -> None:
    queue(
        instances=dict.fromkeys(
            [TRN2, "ml.trn1.2xlarge", "ml.trn1.32xlarge", "ml.p5.48xlarge", "ml.p4d.24xlarge"], 1
        )
    )


@pytest.mark.parametrize("plan", ["pretrain", PLAN.replace("us-east-2", "us-east-1"), f"{PLAN}/"])
def test_rejects_a_plan_of_another_region(plan: str) -> None:
    assert codes(training_plan_arn=plan) == ["UC6337 training_plan_arn"]


def test_rejects_a_type_that_no_plan_reserves_only_with_a_plan() -> None:
    assert codes(instances={"ml.trn1.2xlarge": 1}, training_plan_arn=PLAN) == ["UC6334 instances"]
    queue(instances={"ml.trn1.2xlarge": 1})
    queue(training_plan_arn=cdk.Token.as_string({"Ref": "Plan"}))
