"""`tags` of a cluster, within the limits of AWS ("Tagging AWS Resources", November 2026)."""

from typing import Annotated, Final

from pydantic import AfterValidator

from ultracluster_rules.findings import Finding
from ultracluster_stacks.config.models.constraints import Form, refusal

MOST_TAGS: Final = 40
"""Maximum number of tags: below the 50 of AWS, because CloudFormation, Batch and the stacks add their own."""

# Letters and digits of any script, spaces and these: + - = . _ : / @
_CHARACTER: Final = r"[^\x00-\x1f!-*,;<>?\[-^`{-\x7f]"

_Key = Annotated[
    str,
    Form(
        code="UC2107",
        pattern=rf"(?![aA][wW][sS]:){_CHARACTER}{{1,128}}",
        allowed="1 to 128 letters, digits, spaces and + - = . _ : / @, without the reserved prefix aws:",
    ),
]

_Value = Annotated[
    str,
    Form(
        code="UC2107",
        # CloudFormation requires a value (CreateStack, botocore 1.44.5).
        pattern=f"{_CHARACTER}{{1,256}}",
        allowed="1 to 256 letters, digits, spaces and + - = . _ : / @",
    ),
]


def _check_count(tags: dict[str, str]) -> dict[str, str]:
    if len(tags) > MOST_TAGS:
        raise refusal(Finding("UC2107", f"got {len(tags)} tags", allowed=f"at most {MOST_TAGS}"))
    return tags


Tags = Annotated[dict[_Key, _Value], AfterValidator(_check_count)]
