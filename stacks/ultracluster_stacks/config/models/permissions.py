"""`secrets` and `permissions` of jobs."""

from typing import Annotated

from ultracluster_stacks.config.models.constraints import Form, NotEmpty
from ultracluster_stacks.config.models.model import ConfigModel

SecretArn = Annotated[
    str,
    Form(
        code="UC6122",
        pattern=r"arn:aws[a-z-]*:(?:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[A-Za-z0-9/_+=.@-]+-[A-Za-z0-9]{6}(?::[^:]+::)?"
        r"|ssm:[a-z0-9-]+:[0-9]{12}:parameter/[A-Za-z0-9_./-]+)",
        allowed="the ARN of a secret of AWS Secrets Manager with its six random characters, or of a parameter of Systems Manager",
    ),
]


_Action = Annotated[
    str,
    Form(
        code="UC6121",
        pattern=r"[a-z0-9-]+:[A-Za-z0-9]+",
        allowed="SERVICE:ACTION without a wildcard, such as s3:GetObject",
    ),
]

_Resource = Annotated[
    str,
    Form(code="UC6121", pattern=r"arn:aws[a-z-]*:\S+|\*", allowed="an ARN, or * for actions without one"),
]

_ManagedPolicyArn = Annotated[
    str,
    Form(
        code="UC6122",
        pattern=r"arn:aws[a-z-]*:iam::(?:[0-9]{12}|aws):policy/[A-Za-z0-9_.,+@=/-]+",
        allowed="the ARN of a managed policy, such as arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess",
    ),
]


class StatementConfig(ConfigModel):
    """A statement of the policy of a job's role."""

    actions: Annotated[tuple[_Action, ...], NotEmpty(code="UC6121")]
    """Actions, such as s3:GetObject; no wildcards."""

    resources: Annotated[tuple[_Resource, ...], NotEmpty(code="UC6121")]
    """ARNs that the actions apply to."""


class PermissionsConfig(ConfigModel):
    """Permissions of the role of a job."""

    statements: tuple[StatementConfig, ...] = ()
    """Statements that allow actions. Default: none."""

    managed_policy_arns: tuple[_ManagedPolicyArn, ...] = ()
    """ARNs of managed policies. Default: none."""
