"""Names that become part of stack names and construct IDs, and names of placement groups."""

from typing import Annotated

from ultracluster_catalog.names.identifiers import PLACEMENT_GROUP
from ultracluster_stacks.config.models.constraints import Form

# 32 characters, so that `<name>-<Region>-<stack>` stays far below the 128 of a CloudFormation stack name.
Name = Annotated[
    str,
    Form(
        code="UC2101",
        pattern=r"[a-z][a-z0-9-]{1,31}",
        allowed="2 to 32 lower case letters, digits and hyphens, starting with a letter",
    ),
]


def placement_group_name(allowed: str) -> Form:
    """Return the constraint for the name of a placement group."""
    return Form(code="UC3108", pattern=PLACEMENT_GROUP, allowed=allowed)
