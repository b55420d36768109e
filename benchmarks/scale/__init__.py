"""Past one block, on paper: what very many chips need, break and lose. No request is sent to AWS."""

from scale.assumptions import ASSUMPTION_BASES, Assumptions, Basis
from scale.breaks import Break, breaks
from scale.failures import DayOfFailures, JobSize, simulate_day, simulate_job_sizes
from scale.layout import MOST_CHIPS, Layout, RegionLayout, propose_layout
from scale.report import report_markdown
from scale.rollout import RolloutRun, simulate_rollout

__all__ = [
    "ASSUMPTION_BASES",
    "MOST_CHIPS",
    "Assumptions",
    "Basis",
    "Break",
    "DayOfFailures",
    "JobSize",
    "Layout",
    "RegionLayout",
    "RolloutRun",
    "breaks",
    "propose_layout",
    "report_markdown",
    "simulate_day",
    "simulate_job_sizes",
    "simulate_rollout",
]
