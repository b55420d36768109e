"""`secrets` and `permissions` of jobs."""

from typing import Annotated

from pydantic import AfterValidator

from ultracluster_rules.findings import Finding
from ultracluster_stacks.config.models.constraints import Form, refusal
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


def _check_some(texts: tuple[str, ...]) -> tuple[str, ...]:
    if not texts:
        raise refusal(Finding("UC6121", "got an empty list", allowed="one or more"))
    return texts


class StatementConfig(ConfigModel):
    """A statement of the policy of a job's role."""

    actions: Annotated[
        tuple[
            Annotated[
                str,
                Form(
                    code="UC6121",
                    pattern=r"[a-z0-9-]+:[A-Za-z0-9]+",
                    allowed="SERVICE:ACTION without a wildcard, such as s3:GetObject",
                ),
            ],
            ...,
        ],
        AfterValidator(_check_some),
    ]
    """Actions, such as s3:GetObject; no wildcards."""

    resources: Annotated[
        tuple[
            Annotated[
                str,
                Form(
                    code="UC6121",
                    pattern=r"arn:aws[a-z-]*:\S+|\*",
                    allowed="an ARN, or * for actions without one",
                ),
            ],
            ...,
        ],
        AfterValidator(_check_some),
    ]
    """ARNs that the actions apply to."""


class PermissionsConfig(ConfigModel):
    """Permissions of the role of a job."""

    statements: tuple[StatementConfig, ...] = ()
    """Statements that allow actions. Default: none."""

    managed_policy_arns: tuple[
        Annotated[
            str,
            Form(
                code="UC6122",
                pattern=r"arn:aws[a-z-]*:iam::(?:[0-9]{12}|aws):policy/[A-Za-z0-9_.,+@=/-]+",
                allowed="the ARN of a managed policy, such as arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess",
            ),
        ],
        ...,
    ] = ()
    """ARNs of managed policies. Default: none."""
