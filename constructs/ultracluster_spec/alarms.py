"""`alarms` and `budget` of a cluster: recipients and thresholds."""

from dataclasses import dataclass
from typing import Annotated, Final

from ultracluster_rules.alarms import EMAIL, TOPIC_ARN
from ultracluster_rules.budgets import MONTHLY_USD, PERCENT
from ultracluster_rules.budgets import TOPIC_ARN as BUDGET_TOPIC_ARN
from ultracluster_rules.record import RuleRecord
from ultracluster_rules.values import Between
from ultracluster_spec.values import Value

_Percent = Annotated[int, PERCENT]


@dataclass(frozen=True, kw_only=True, slots=True)
class Alarms(Value):
    """Alarms with remedies, with the metrics of all nodes, a function that watches the cluster, and a dashboard."""

    enabled: bool = True
    """Whether there are alarms. Default: yes; without this section, for Capacity Blocks."""

    emails: tuple[Annotated[str, EMAIL], ...] = ()
    """Email addresses to subscribe to a new SNS topic; each must confirm. Default: `notify` of the cluster."""

    topic_arn: Annotated[str, TOPIC_ARN] | None = None
    """ARN of an existing SNS topic, whose policy lets CloudWatch publish. Default: `notify` of the cluster."""

    dashboard: bool = True
    """Whether to create a CloudWatch dashboard of the cluster; in your own app, add a `ClusterDashboard`. Default: yes."""

    idle_percent: Annotated[int, Between("UC6440", 0, 100)] = 5
    """NeuronCore utilization below which a node counts as idle, in percent. Default: 5."""

    idle_minutes: Annotated[int, Between("UC6440", 1, 60)] = 15
    """Minutes that nodes may be idle or missing in paid capacity. Default: 15."""

    drain_minutes: Annotated[int, Between("UC6440", 1, 10_080)] = 120
    """Minutes before the drain of a Capacity Block at which to notify. Default: 120."""

    wait_minutes: Annotated[int, Between("UC6440", 1, 1_440)] = 60
    """Minutes that a job that could run may wait. Default: 60."""

    collective_percent: Annotated[int, Between("UC6440", 1, 100)] = 25
    """Share of a training step spent in collectives, in percent. Default: 25."""

    stalled_steps: Annotated[int, Between("UC6440", 2, 1_000)] = 10
    """Time without a training step, as a multiple of the median step; at least five minutes. Default: 10."""

    free_percent: Annotated[int, Between("UC6440", 1, 90)] = 10
    """Free space of the file system, in percent. Default: 10."""

    cache_misses: Annotated[int, Between("UC6440", 1, 100_000)] = 10
    """Graphs compiled within 15 minutes while nodes run. Default: 10."""


def effective_alarms(given: Alarms | None, *, has_block: bool) -> Alarms | None:
    """Return the alarms that a cluster has: as written, otherwise the default ones for Capacity Blocks."""
    if given is None:
        return Alarms(dashboard=False) if has_block else None
    return given if given.enabled else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget(Value):
    """A monthly budget of AWS Budgets for everything with the cluster's tag in its Region."""

    monthly_usd: Annotated[int, MONTHLY_USD]
    """Monthly limit in US dollars. A Capacity Block is billed in the month of its purchase."""

    emails: tuple[str, ...] = ()
    """Email addresses to notify, up to 10. Default: none."""

    topic_arn: Annotated[str, BUDGET_TOPIC_ARN] | None = None
    """ARN of an SNS topic to notify; its policy must let budgets.amazonaws.com publish. Default: a new topic without
    subscribers."""

    actual_percents: tuple[_Percent, ...] = (50, 80, 100)
    """Actual cost at which to notify, in percent of the limit. Default: 50, 80 and 100."""

    forecast_percents: tuple[_Percent, ...] = (100,)
    """Forecast cost of the month at which to notify, in percent of the limit. Default: 100."""

    close_queues_at_percent: _Percent | None = None
    """Actual cost at which the queues of the cluster stop accepting jobs, in percent of the limit. Running jobs continue;
    the queues must be reopened manually. Default: never, because a Capacity Block is paid for whether its queue is open
    or not."""


RECORDS: Final = (
    RuleRecord(
        "UC6440",
        "The threshold of an alarm is a whole number in its bounds.",
        remedy="Specify a whole number within the bounds of the finding; omit it for the default.",
        source="Our decision: outside the bounds an alarm would never go off, or always. An alarm looks back one day (CloudWatch user guide, 2026-10).",
        example="alarms: {idle_minutes: 60, emails: [ml@example.com]}",
    ),
)
