"""`capacity` of a cluster: how its instances are bought and which reservation they run in."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from ultracluster_catalog.identifiers import RESERVATION_ID
from ultracluster_stacks.config.field_rules import Form, refusal
from ultracluster_stacks.config.model import ConfigModel
from ultracluster_stacks.config.problem import shown

__all__ = ["CapacityConfig"]

_UTC_TIME: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?Z"


def _explain_reservation_id(value: str) -> str:
    if value.startswith("cb-"):
        return "cb- is an offering (a quote) or a block; give the reservation that was bought with it, cr-"
    if value.startswith("cbr-"):
        return "cbr- is the id of a Capacity Block; give the id of its Capacity Reservation, cr-"
    if value.startswith("arn:"):
        return "Give the last part of the ARN, without what stands before the slash"
    if re.fullmatch(r"cr-[0-9a-f]{8}", value):
        return "This has 8 hexadecimal digits"
    return "See the reservation's id in `aws ec2 describe-capacity-reservations`"


def _read_utc(value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC)
    if not isinstance(value, (str, datetime)):
        return value  # for pydantic to refuse
    text = str(value)
    if re.fullmatch(_UTC_TIME, text):
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            remedy = "There is no such day or time"
    elif re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        remedy = "Add the time and Z"
    elif re.fullmatch(r"[0-9-]{10}[T ][0-9:.]+", text):
        remedy = "Write T between day and time, and Z at the end when it is UTC"
    else:
        remedy = "Convert it to UTC; Capacity Blocks start and end by UTC"
    raise refusal(
        code="UC4111",
        problem=f"got {shown(text)}",
        allowed='ISO 8601 in UTC, such as "2026-12-01T11:30:00Z"',
        remedy=remedy,
    )


_Utc = Annotated[
    datetime,
    BeforeValidator(_read_utc),
    WithJsonSchema({"type": "string", "pattern": f"^{_UTC_TIME}$", "examples": ["2026-12-01T11:30:00Z"]}),
]


class CapacityConfig(ConfigModel):
    """How the instances of a cluster are bought. Nothing is bought by a deployment."""

    market_type: Literal["capacity-block", "on-demand"] = Field(
        default="capacity-block",
        description="`capacity-block`: the instances run in a Capacity Block that was bought before. "
        "`on-demand`: they run on demand, in an On-Demand Capacity Reservation if `reservation_id` names one.",
    )
    reservation_id: (
        Annotated[
            str,
            Form(
                code="UC4109",
                pattern=RESERVATION_ID,
                allowed="cr- and 17 hexadecimal digits in lower case, such as cr-0123456789abcdef0",
                explain=_explain_reservation_id,
            ),
        ]
        | None
    ) = Field(
        default=None,
        description="Id of the Capacity Reservation, also that of a Capacity Block: cr- and 17 hexadecimal "
        "digits. Required for `capacity-block`.",
    )
    start: _Utc | None = Field(
        default=None, description="When the capacity starts: ISO 8601 in UTC, in quotes. Default: not known."
    )
    end: _Utc | None = Field(
        default=None,
        description="When the capacity ends: ISO 8601 in UTC, in quotes; 11:30 for a Capacity Block. "
        "Default: not known.",
    )
