"""Submit a training job to the queue of app.py. It starts when its share has room, and then costs money.

python3 examples/sagemaker-queue/submit.py STACK IMAGE -- COMMAND...   (the stack of app.py is SageMakerQueue)
"""

import argparse
import sys

import boto3

from ultracluster_runtime.service_jobs import training_job, training_job_submission

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("stack")
parser.add_argument("image", help="container image in the Amazon ECR of the Region")
parser.add_argument("command", nargs="+", help="what each instance runs, after --")
parser.add_argument("--name", default="pretrain")
parser.add_argument("--share", default="research")
parser.add_argument("--instances", type=int, default=1)
arguments = parser.parse_args()

stack = boto3.client("cloudformation").describe_stacks(StackName=arguments.stack)["Stacks"][0]
outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
bucket = f"s3://{outputs['CheckpointBucket']}/{arguments.name}"
request = training_job(
    name=arguments.name,
    image=arguments.image,
    command=arguments.command,
    role_arn=outputs["ExecutionRole"],
    instance_type="ml.trn2.48xlarge",
    instance_count=arguments.instances,
    output_s3_url=f"{bucket}/output",
    checkpoint_s3_url=f"{bucket}/checkpoints",
    training_plan_arn=outputs["TrainingPlan"],
)
submission = training_job_submission(
    request, name=arguments.name, job_queue=outputs["JobQueue"], share=arguments.share
)
sys.stdout.write(boto3.client("batch").submit_service_job(**submission)["jobArn"] + "\n")
