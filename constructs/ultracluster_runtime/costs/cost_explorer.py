"""Actual costs of a cluster from Cost Explorer, by service or by a tag such as job or team."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from ultracluster_runtime.costs.price_list import refuse_unanswered

COST_EXPLORER_REGION: Final = "us-east-1"  # Region of the Cost Explorer API, which covers all Regions
_METRIC: Final = "UnblendedCost"


@dataclass(frozen=True, kw_only=True, slots=True)
class ActualCosts:
    """Costs of a period."""

    amounts: dict[str, Decimal]  # amounts by service or tag value; untagged costs are under the empty string
    currency: str
    estimated: bool  # whether AWS may still change the amounts, as for the last days

    @property
    def total(self) -> Decimal:
        """Sum of all amounts."""
        return sum(self.amounts.values(), Decimal(0))


def actual_costs(
    *, start: date, end: date, region: str, tag_key: str, tag_value: str, by: str | None, client: Any
) -> ActualCosts:
    """Return the actual costs of a cluster, up to the day before `end`. Each request costs USD 0.01.

    They are grouped by the tag key `by`, or by service. `client` is one of ``ce`` in `COST_EXPLORER_REGION`; its errors are
    raised as UC9307.
    """
    request: dict[str, Any] = {
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
            response = client.get_cost_and_usage(**request)
        except (BotoCoreError, ClientError) as error:
            remedy = (
                "The credentials need ce:GetCostAndUsage, and Cost Explorer must be enabled in the account"
            )
            raise refuse_unanswered(error, remedy=remedy) from error
        for day in response["ResultsByTime"]:
            estimated |= day.get("Estimated", False)
            for group in day.get("Groups", []):
                name = group["Keys"][0] if by is None else group["Keys"][0].removeprefix(f"{by}$")
                amounts[name] += Decimal(group["Metrics"][_METRIC]["Amount"])
                currencies.add(group["Metrics"][_METRIC]["Unit"])
        if not response.get("NextPageToken"):
            return ActualCosts(
                amounts=dict(amounts), currency=", ".join(sorted(currencies)) or "USD", estimated=estimated
            )
        request["NextPageToken"] = response["NextPageToken"]
