"""Names, Regions and paths that values refer to, in the form that AWS takes."""

from typing import Annotated, Final

from ultracluster_catalog.names.identifiers import IAM_PATH, PLACEMENT_GROUP
from ultracluster_catalog.places.zones import REGIONS
from ultracluster_spec.bounds import Form
from ultracluster_spec.did_you_mean import suggestion
from ultracluster_spec.record import RuleRecord

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


RECORDS: Final = (
    RuleRecord(
        "UC2101",
        "The name of a wave, a cluster or a job is short, lower case and starts with a letter.",
        remedy="Use 2 to 32 lower case letters, digits and hyphens, a letter first.",
        source="AWS CloudFormation user guide: a stack name has at most 128 letters, digits and hyphens; ours is made of cluster, Region and stack.",
        example="name: train-1",
    ),
    RuleRecord(
        "UC2102",
        "A Region exists.",
        remedy="Use the Region that the finding suggests: its code in lower case, not its name.",
        source="Zone ids of DescribeInstanceTypeOfferings as moto 5.2.5 ships them, about 2026-08, and the EC2 user guide, 2026-10.",
        example="region: us-east-2",
    ),
    RuleRecord(
        "UC2104",
        "An account is 12 digits in quotes.",
        remedy="Write the 12 digits without hyphens or spaces, in quotes, so that leading zeros are kept.",
        source="AWS Account Management reference: an account id has 12 digits.",
        example='account: "111122223333"',
    ),
    RuleRecord(
        "UC2260",
        "A permissions boundary is the name or the ARN of a policy.",
        remedy="Specify the name of a policy in the account, with its path, or the full ARN.",
        source="IAM user guide, names and quotas: letters, digits and + = , . @ _ -, up to 128.",
        example="permissions_boundary: my-boundary",
    ),
    RuleRecord(
        "UC2261",
        "The path of roles is a valid IAM path.",
        remedy="Begin and end the path with a slash, such as /training/.",
        source="botocore 1.44.5, IAM pathType, 2026: it begins and ends with a slash.",
        example="role_path: /training/",
    ),
    RuleRecord(
        "UC3108",
        "A placement is auto, none, or the name of a placement group.",
        remedy="Write auto, none, or the name of an existing cluster placement group.",
        source="botocore 1.44.5, EC2 CreatePlacementGroup, 2026: a group name has up to 255 ASCII characters.",
    ),
    RuleRecord(
        "UC5102",
        "A KMS key is given by its ARN.",
        remedy="`aws kms describe-key --key-id alias/NAME` shows the ARN of the key behind an alias.",
        source="Our decision: an alias can be pointed at another key, which would replace the file system.",
        example='file_system: {kms_key_arn: "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"}',
    ),
    RuleRecord(
        "UC6350",
        "A submitter is a role of the account of the cluster, named once.",
        remedy="Specify the ARN of a role in the account of the cluster, such as one that people assume by IAM Identity Center.",
        source="IAM user guide, identity-based policies: a policy is attached to roles of its own account only, 2026-11.",
        example='submitters: ["arn:aws:iam::123456789012:role/researcher"]',
    ),
)
