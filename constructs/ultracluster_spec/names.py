"""Names of what values refer to, in the form that AWS takes."""

from typing import Annotated, Final

from ultracluster_catalog.names.identifiers import PLACEMENT_GROUP
from ultracluster_rules.names import ROLE_PATH
from ultracluster_rules.values import Form

_POLICY_NAME: Final = "[A-Za-z0-9_.,+@=-]{1,128}"

# 32 characters, so that `<name>-<Region>-<stack>` stays far below the 128 of a CloudFormation stack name.
NAME: Final = Form(
    code="UC2101",
    pattern=r"[a-z][a-z0-9-]{1,31}",
    allowed="2 to 32 lower case letters, digits and hyphens, starting with a letter",
)
"""A name that becomes part of stack names and construct IDs."""

Name = Annotated[str, NAME]

KEY: Final = Form(
    code="UC5102",
    pattern=r"arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[0-9a-f-]{36}|arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/mrk-[0-9a-f]{32}",
    allowed="the ARN of a key, such as arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef",
)
"""ARN of a KMS key."""

KeyArn = Annotated[str, KEY]


def _explain_account(value: str) -> str:
    return "Write the 12 digits without hyphens or spaces" if value.isascii() and "-" in value else ""


AccountId = Annotated[
    str,
    Form(
        code="UC2104",
        pattern="[0-9]{12}",
        allowed='12 digits in quotes, such as "123456789012"',
        explain=_explain_account,
    ),
]

PolicyRef = Annotated[
    str,
    Form(
        code="UC2260",
        pattern=f"(?:arn:aws[a-z-]*:iam::(?:[0-9]{{12}}|aws):policy/)?(?:[A-Za-z0-9_.,+@=-]+/)*{_POLICY_NAME}",
        allowed="the name of a policy, such as training-boundary, or its ARN",
    ),
]

ROLE: Final = Form(
    code="UC6350",
    pattern=r"arn:aws[a-z-]*:iam::[0-9]{12}:role/(?:[A-Za-z0-9_.,+@=-]+/)*[A-Za-z0-9_.,+@=-]{1,64}",
    allowed="the ARN of an IAM role, such as arn:aws:iam::123456789012:role/researcher",
)
"""ARN of a role that may submit jobs."""

RoleArn = Annotated[str, ROLE]

RolePathText = Annotated[str, ROLE_PATH]


def placement_group_name(allowed: str) -> Form:
    """Return the form of the name of a placement group."""
    return Form(code="UC3108", pattern=PLACEMENT_GROUP, allowed=allowed)


def resource_id(kind: str, *, code: str) -> Form:
    """Return the form of the ID of an EC2 resource, such as of kind ``subnet``."""
    pattern = rf"{kind}-(?:[0-9a-f]{{17}}|[0-9a-f]{{8}})"
    return Form(code=code, pattern=pattern, allowed=f"{kind}- and 17 hexadecimal digits")
