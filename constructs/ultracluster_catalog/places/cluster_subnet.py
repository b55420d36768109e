"""Endpoints and file system addresses in the subnet of a cluster."""

from typing import Final

NODE_SERVICES: Final = (
    "ecr.api",
    "ecr.dkr",
    "ecs",
    "ecs-agent",
    "ecs-telemetry",
    "logs",
    "monitoring",
    "ssm",
    "ssmmessages",
)
"""Services that a node of AWS Batch on ECS calls, for image pulls, the ECS agent, job logs, metrics and Session Manager.

From the guides of Amazon ECR, Amazon ECS, CloudWatch and Systems Manager on VPC endpoints, read 2026-10. The agent of
AL2023 needs no ec2messages. Image layers use the gateway endpoint of S3, which needs no address.
"""

FILE_SYSTEM_ADDRESSES: Final = 128
"""Addresses reserved for the file system: enough for 100 object servers, so that storage can grow in the same subnet."""
