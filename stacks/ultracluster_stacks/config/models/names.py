"""Names that become part of stack names and construct IDs, and names, paths and ARNs of what exists already."""

from typing import Annotated, Final

from ultracluster_rules.names import ROLE_PATH
from ultracluster_spec.file_system import KEY
from ultracluster_spec.names import NAME
from ultracluster_stacks.config.models.constraints import Constraint, form

_POLICY_NAME: Final = "[A-Za-z0-9_.,+@=-]{1,128}"

Name = Annotated[str, NAME]


def _explain_account(value: str) -> str:
    return "Write the 12 digits without hyphens or spaces" if value.isascii() and "-" in value else ""


AccountId = Annotated[
    str,
    form(
        code="UC2104",
        pattern="[0-9]{12}",
        allowed='12 digits in quotes, such as "123456789012"',
        explain=_explain_account,
    ),
]

KeyArn = Annotated[str, KEY]

PolicyRef = Annotated[
    str,
    form(
        code="UC2260",
        pattern=f"(?:arn:aws[a-z-]*:iam::(?:[0-9]{{12}}|aws):policy/)?(?:[A-Za-z0-9_.,+@=-]+/)*{_POLICY_NAME}",
        allowed="the name of a policy, such as training-boundary, or its ARN",
    ),
]

RolePathText = Annotated[str, Constraint(ROLE_PATH)]
