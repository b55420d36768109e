"""Apply all rules to a recording."""

from dataclasses import dataclass
from datetime import timedelta

from ultracluster_runtime.advice.rules import RULES, NotEvaluatedError
from ultracluster_runtime.advice.subject import Advice, SkippedRule, Subject
from ultracluster_runtime.metrics.recorded_metrics import Recording


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """Result of all rules."""

    hours: float  # length of the recording in hours
    advice: tuple[Advice, ...]  # largest known saving first, unknown savings last
    skipped_rules: tuple[SkippedRule, ...]  # rules whose metrics are missing


def advise(recording: Recording, subject: Subject) -> Report:
    """Apply all rules to a recording."""
    advice: list[Advice] = []
    skipped_rules: list[SkippedRule] = []
    for name, rule in RULES.items():
        try:
            advice += rule(recording, subject)
        except NotEvaluatedError as error:
            skipped_rules.append(SkippedRule(rule=name, reason=str(error)))
    return Report(
        hours=(recording.end - recording.start) / timedelta(hours=1),
        advice=tuple(sorted(advice, key=lambda item: -(item.usd_per_month or 0))),
        skipped_rules=tuple(skipped_rules),
    )
