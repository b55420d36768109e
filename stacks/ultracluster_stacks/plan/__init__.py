"""Plan a deployment from templates alone: replaced resources, lost data, terminated jobs.

Needs neither AWS nor the CDK. `compare` takes the stacks before and after; the command line reads them.
"""

from ultracluster_stacks.plan.changes import (
    Action,
    Plan,
    PropertyChange,
    ResourceChange,
    StackChange,
    StackState,
    Stop,
    StopKind,
)
from ultracluster_stacks.plan.comparison import compare
from ultracluster_stacks.plan.headroom import Headroom, check_headroom, headroom
from ultracluster_stacks.plan.imported_roles import imported_roles
from ultracluster_stacks.plan.templates import StackTemplate, read_template

__all__ = [
    "Action",
    "Headroom",
    "Plan",
    "PropertyChange",
    "ResourceChange",
    "StackChange",
    "StackState",
    "StackTemplate",
    "Stop",
    "StopKind",
    "check_headroom",
    "compare",
    "headroom",
    "imported_roles",
    "read_template",
]
