"""Names that become parts of stack names and construct ids."""

from typing import Annotated

from ultracluster_stacks.config.models.constraints import Form

__all__ = ["Name"]

# 32 characters, so that `<name>-<Region>-<stack>` stays far below the 128 of a CloudFormation stack name.
Name = Annotated[
    str,
    Form(
        code="UC2101",
        pattern=r"[a-z][a-z0-9-]{1,31}",
        allowed="2 to 32 characters: lower case letters, digits and hyphens, a letter first",
    ),
]
