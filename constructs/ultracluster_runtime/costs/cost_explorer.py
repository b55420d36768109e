"""What a cluster did cost, from Cost Explorer: by service, or by a tag such as that of the job or the team."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from ultracluster_runtime.costs.price_list import refuse_unanswered

__all__ = ["COST_EXPLORER_REGION", "ActualCosts", "actual_costs"]

COST_EXPLORER_REGION: Final = "us-east-1"
"""Where the API is; it knows the costs in all Regions."""

_METRIC: Final = "UnblendedCost"


@dataclass(frozen=True, kw_only=True, slots=True)
class ActualCosts:
    """What was paid in a period.

    Attributes:
        amounts: By service or by value of the tag; what has no tag is under an empty text.
        currency: Of the amounts.
        estimated: Whether AWS may still change it, as for the last days.
    """

    amounts: dict[str, Decimal]
    currency: str
    estimated: bool

    @property
    def total(self) -> Decimal:
        """All of it."""
        return sum(self.amounts.values(), Decimal(0))


def actual_costs(
    *, start: date, end: date, region: str, tag_key: str, tag_value: str, by: str | None, client: Any
) -> ActualCosts:
    """Ask what a cluster did cost. Each question costs one cent.

    Args:
        start: The first day.
        end: The day after the last one.
        region: Region of the cluster.
        tag_key: Key of the cost allocation tag of the cluster.
        tag_value: Its value.
        by: Key of the tag to group by. None for services.
        client: A boto3 client of ``ce`` in `COST_EXPLORER_REGION`.

    Raises:
        FindingsError: If AWS does not answer (UC9307).
    """
    asked: dict[str, Any] = {
        "TimePeriod": {"Start": start.isoformat(), "End": end.isoformat()},
        "Granularity": "DAILY",
        "Metrics": [_METRIC],
        "Filter": {
            "And": [
                {"Tags": {"Key": tag_key, "Values": [tag_value]}},
                {"Dimensions": {"Key": "REGION", "Values": [region]}},
            ]
        },
        "GroupBy": [{"Type": "DIMENSION", "Key": "SERVICE"} if by is None else {"Type": "TAG", "Key": by}],
    }
    amounts: dict[str, Decimal] = defaultdict(Decimal)
    currencies: set[str] = set()
    estimated = False
    while True:
        try:
            answer = client.get_cost_and_usage(**asked)
        except (BotoCoreError, ClientError) as error:
            remedy = (
                "The credentials need ce:GetCostAndUsage, and Cost Explorer must be enabled in the account"
            )
            raise refuse_unanswered(error, remedy=remedy) from error
        for day in answer["ResultsByTime"]:
            estimated |= day.get("Estimated", False)
            for group in day.get("Groups", []):
                name = group["Keys"][0] if by is None else group["Keys"][0].removeprefix(f"{by}$")
                amounts[name] += Decimal(group["Metrics"][_METRIC]["Amount"])
                currencies.add(group["Metrics"][_METRIC]["Unit"])
        if not answer.get("NextPageToken"):
            return ActualCosts(
                amounts=dict(amounts), currency=", ".join(sorted(currencies)) or "USD", estimated=estimated
            )
        asked["NextPageToken"] = answer["NextPageToken"]
