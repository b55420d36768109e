"""Names of what values refer to, in the form that AWS takes."""

from typing import Final

from ultracluster_catalog.names.identifiers import PLACEMENT_GROUP
from ultracluster_rules.values import Form

# 32 characters, so that `<name>-<Region>-<stack>` stays far below the 128 of a CloudFormation stack name.
NAME: Final = Form(
    code="UC2101",
    pattern=r"[a-z][a-z0-9-]{1,31}",
    allowed="2 to 32 lower case letters, digits and hyphens, starting with a letter",
)
"""A name that becomes part of stack names and construct IDs."""


def placement_group_name(allowed: str) -> Form:
    """Return the form of the name of a placement group."""
    return Form(code="UC3108", pattern=PLACEMENT_GROUP, allowed=allowed)
