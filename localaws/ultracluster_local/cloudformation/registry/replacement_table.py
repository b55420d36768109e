"""Print which properties of a resource type require replacement, according to the CloudFormation registry.

``make tables`` writes the table after an upgrade of cfn-lint; a test compares it with the installed cfn-lint.
"""

import json
import sys
from typing import Final

from ultracluster_local.cloudformation.registry import schemas

__all__ = ["replacement_table"]

# All types of the services that clusters use, so that a new resource needs no new table.
_SERVICES: Final = frozenset(
    {
        "AutoScaling",
        "Batch",
        "Budgets",
        "CE",
        "CloudFormation",
        "CloudTrail",
        "CloudWatch",
        "CodeBuild",
        "DynamoDB",
        "EC2",
        "ECR",
        "ECS",
        "EFS",
        "EKS",
        "Events",
        "FSx",
        "IAM",
        "ImageBuilder",
        "KMS",
        "Lambda",
        "Logs",
        "ResourceGroups",
        "S3",
        "S3Files",
        "SNS",
        "SQS",
        "SSM",
        "SageMaker",
        "Scheduler",
        "SecretsManager",
        "StepFunctions",
    }
)


def replacement_table() -> str:
    """Return the table as JSON: for each type, the paths that always and those that sometimes require replacement."""
    rows = [
        f"{json.dumps(name)}: {json.dumps([_paths(name, conditional=some) for some in (False, True)])}"
        for name in schemas.type_names()
        if name.startswith("AWS::") and name.split("::")[1] in _SERVICES
    ]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _paths(name: str, *, conditional: bool) -> list[str]:
    return sorted("/".join(path) for path in schemas.create_only(name, conditional=conditional))


if __name__ == "__main__":
    sys.stdout.write(replacement_table())
