"""Rules for names, Regions and paths."""

from typing import Final

from ultracluster_catalog.names.identifiers import IAM_PATH
from ultracluster_catalog.places.zones import REGIONS
from ultracluster_rules.did_you_mean import suggestion
from ultracluster_rules.values import Form

# Other partitions are not in the catalogue: all Regions of theirs are accepted, with a warning (UC2103).
_OTHER_PARTITIONS: Final = r"(?:cn|us-gov|us-iso[a-z]?|eu-isoe|eusc)-[a-z]+(?:-[a-z]+)?-[0-9]"

REGION: Final = Form(
    code="UC2102",
    pattern="|".join((*REGIONS, _OTHER_PARTITIONS)),
    allowed="a Region, such as us-east-2",
    explain=lambda got: suggestion(got, REGIONS),
)
"""A Region exists."""

ROLE_PATH: Final = Form(
    code="UC2261", pattern=IAM_PATH, allowed="a path that starts and ends with a slash, such as /training/"
)
"""The path of roles is one of IAM."""
