"""`tags` of a cluster, within the limits of AWS (guide "Tagging AWS Resources", read November 2026)."""

from typing import Annotated, Final

from pydantic import AfterValidator

from ultracluster_stacks.config.models.constraints import Form, refusal

__all__ = ["MOST_TAGS", "Tags"]

MOST_TAGS: Final = 40
"""Most tags of a cluster: fewer than the 50 of AWS, as CloudFormation, Batch and the stacks add some of their own."""

# Letters and digits of any script, spaces and these: + - = . _ : / @
_CHARACTER: Final = r"[^\x00-\x1f!-*,;<>?\[-^`{-\x7f]"

_Key = Annotated[
    str,
    Form(
        code="UC2107",
        pattern=rf"(?![aA][wW][sS]:){_CHARACTER}{{1,128}}",
        allowed="1 to 128 letters, digits, spaces and + - = . _ : / @, and not aws: first, which AWS keeps for itself",
    ),
]

_Value = Annotated[
    str,
    Form(
        code="UC2107",
        # Tags of a stack have a value: CreateStack of CloudFormation, botocore 1.44.5.
        pattern=f"{_CHARACTER}{{1,256}}",
        allowed="1 to 256 letters, digits, spaces and + - = . _ : / @",
    ),
]


def _check_count(tags: dict[str, str]) -> dict[str, str]:
    if len(tags) > MOST_TAGS:
        raise refusal(code="UC2107", problem=f"got {len(tags)} tags", allowed=f"at most {MOST_TAGS}")
    return tags


Tags = Annotated[dict[_Key, _Value], AfterValidator(_check_count)]
