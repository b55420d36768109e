"""SageMaker training: instance types with Neuron or for comparison, and those that training plans reserve.

Sources: the SageMaker model of botocore 1.44.5 (`TrainingInstanceType`, `ReservedCapacityInstanceType`), SageMaker guide.
"""

from typing import Final

from ultracluster_catalog.machines.instance_types import MACHINES

SAGEMAKER_TRAINING_TYPES: Final = tuple(
    f"ml.{name}" for name, machine in MACHINES.items() if machine.sagemaker_training
)
"""Instance types of training jobs: Trainium, and the GPUs that it is compared with."""

TRAINING_PLAN_TYPES: Final = tuple(
    f"ml.{name}" for name, machine in MACHINES.items() if machine.training_plans
)
"""Those of them that a training plan can reserve."""

TRAINING_PLAN_ARN: Final = (
    r"arn:aws[a-z\-]*:sagemaker:(?P<region>[a-z0-9\-]*):[0-9]{12}:training-plan/[A-Za-z0-9\-]+"
)
"""Regular expression that matches the ARN of a training plan as a whole."""

TRAINING_JOB_NAME_PREFIX: Final = "AWSBatch"
"""Prefix of the training jobs that AWS Batch creates; the policy of its service-linked role (2025-07-15) allows no other."""

MOST_QUOTA_UNITS: Final = 5
"""Maximum number of instance types of a service environment with quota shares (AWS Batch User Guide, October 2026)."""

MOST_SERVICE_PAYLOAD_BYTES: Final = 10 * 1024
"""Maximum size in bytes of the request payload of a service job (AWS Batch quotas)."""
