"""Rules for names, Regions and paths."""

from typing import Final

from ultracluster_catalog.names.identifiers import IAM_PATH
from ultracluster_catalog.places.zones import REGIONS
from ultracluster_rules.did_you_mean import suggestion
from ultracluster_rules.record import RuleRecord
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

RECORDS: Final = (
    RuleRecord(
        "UC2102",
        "A Region exists.",
        remedy="Use the Region that the finding suggests: its code in lower case, not its name.",
        source="Zone ids of DescribeInstanceTypeOfferings as moto 5.2.5 ships them, about 2026-08, and the EC2 user guide, 2026-10.",
        example="region: us-east-2",
    ),
    RuleRecord(
        "UC2261",
        "The path of roles is a valid IAM path.",
        remedy="Begin and end the path with a slash, such as /training/.",
        source="botocore 1.44.5, IAM pathType, 2026: it begins and ends with a slash.",
        example="role_path: /training/",
    ),
)
