"""ARNs of KMS keys."""

from typing import Annotated

from ultracluster_stacks.config.models.constraints import Form

KeyArn = Annotated[
    str,
    Form(
        code="UC5102",
        pattern=r"arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[0-9a-f-]{36}|arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/mrk-[0-9a-f]{32}",
        allowed="the ARN of a key, such as arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef",
    ),
]
