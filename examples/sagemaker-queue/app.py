"""A queue of SageMaker training jobs on Trainium2 for two teams, with an image repository and checkpoints.

Change the values below, then: cdk deploy --app "python3 examples/sagemaker-queue/app.py". `submit.py` submits a job.
"""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from ultracluster import CheckpointBucket, QuotaShare, SageMakerTrainingQueue, TrainingImageRepository

REGION = "us-east-2"
# REPLACE with a training plan that you bought in the SageMaker console or with `aws sagemaker create-training-plan`. Without
# one, jobs run at on-demand prices.
TRAINING_PLAN_ARN = f"arn:aws:sagemaker:{REGION}:123456789012:training-plan/pretrain"
SUBMITTERS = iam.AccountRootPrincipal()  # REPLACE with the roles that submit jobs

app = cdk.App()
stack = cdk.Stack(app, "SageMakerQueue", env=cdk.Environment(region=REGION))
queue = SageMakerTrainingQueue(
    stack,
    "Queue",
    instances={"ml.trn2.48xlarge": 4},
    shares=[
        QuotaShare(name="research", instances={"ml.trn2.48xlarge": 3}, sharing="LEND"),
        QuotaShare(
            name="evaluation",
            instances={"ml.trn2.48xlarge": 1},
            sharing="LEND_AND_BORROW",
            borrow_limit_percent=300,
        ),
    ],
    training_plan_arn=TRAINING_PLAN_ARN,
)
checkpoints = CheckpointBucket(stack, "Checkpoints")
checkpoints.grant_use(queue.execution_role)
images = TrainingImageRepository(stack, "Images")
images.grant_pull(queue.execution_role)
submitters = iam.Role(stack, "Submitters", assumed_by=SUBMITTERS, description="Submit training jobs")
queue.grant_submit(submitters)
cdk.CfnOutput(stack, "JobQueue", value=queue.job_queue_arn)
cdk.CfnOutput(stack, "ExecutionRole", value=queue.execution_role.role_arn)
cdk.CfnOutput(stack, "CheckpointBucket", value=checkpoints.bucket.bucket_name)
cdk.CfnOutput(stack, "ImageRepository", value=images.repository.repository_uri)
cdk.CfnOutput(stack, "TrainingPlan", value=TRAINING_PLAN_ARN)
app.synth()
