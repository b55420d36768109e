"""`permissions_boundary` and `role_path` of a cluster, which apply to all its IAM roles."""

from typing import Annotated, Final

from ultracluster_rules.names import ROLE_PATH
from ultracluster_stacks.config.models.constraints import Form, constraint

_NAME: Final = "[A-Za-z0-9_.,+@=-]{1,128}"

PolicyRef = Annotated[
    str,
    Form(
        code="UC2260",
        pattern=f"(?:arn:aws[a-z-]*:iam::(?:[0-9]{{12}}|aws):policy/)?(?:[A-Za-z0-9_.,+@=-]+/)*{_NAME}",
        allowed="the name of a policy, such as training-boundary, or its ARN",
    ),
]

RolePathText = Annotated[str, constraint(ROLE_PATH)]
