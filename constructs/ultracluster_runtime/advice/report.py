"""Apply all rules to a recording."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from ultracluster_runtime.advice.job_rules import (
    checkpoints,
    collectives,
    compilations,
    compiler_settings,
    tcp_fallback,
)
from ultracluster_runtime.advice.node_rules import idle_nodes, lagging_node, node_without_work, unused_nodes
from ultracluster_runtime.advice.storage_rules import oversize_file_system
from ultracluster_runtime.advice.subject import Advice, SkippedRule, Subject
from ultracluster_runtime.metrics.recorded_metrics import Recording

RULES: Final[tuple[Callable[[Recording, Subject], Iterator[Advice | SkippedRule]], ...]] = (
    unused_nodes,
    idle_nodes,
    node_without_work,
    lagging_node,
    tcp_fallback,
    collectives,
    compiler_settings,
    compilations,
    checkpoints,
    oversize_file_system,
)
"""All rules; each is pure."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """Result of all rules."""

    hours: float  # length of the recording in hours
    advice: tuple[Advice, ...]  # largest known saving first, unknown savings last
    skipped_rules: tuple[SkippedRule, ...]  # rules whose metrics are missing


def advise(recording: Recording, subject: Subject) -> Report:
    """Apply all rules to a recording."""
    results = [result for rule in RULES for result in rule(recording, subject)]
    advice = [result for result in results if isinstance(result, Advice)]
    return Report(
        hours=(recording.end - recording.start) / timedelta(hours=1),
        advice=tuple(sorted(advice, key=lambda result: -(result.usd_per_month or 0))),
        skipped_rules=tuple(result for result in results if isinstance(result, SkippedRule)),
    )
