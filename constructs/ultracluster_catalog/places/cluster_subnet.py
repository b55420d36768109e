"""What shares the one subnet of a cluster: nodes, their tasks, interface endpoints and the file system."""

from typing import Final

__all__ = ["FILE_SYSTEM_ADDRESSES", "NODE_SERVICES"]

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
"""What a node of AWS Batch on ECS calls: image pulls, the ECS agent's three endpoints, job logs, metrics, Session Manager.

From the guides of Amazon ECR, Amazon ECS, CloudWatch and Systems Manager on VPC endpoints, read 2026-10. The agent of
AL2023 needs no ec2messages. Image layers come through the gateway endpoint of S3, which takes no address.
"""

FILE_SYSTEM_ADDRESSES: Final = 128
"""Kept for the file system: enough for 100 object servers, so that storage may grow without a new subnet."""
