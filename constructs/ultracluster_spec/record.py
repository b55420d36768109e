"""The record of a rule: what `ultracluster docs CODE` says about its code.

A record stands in the table ``RECORDS`` of the module that states its code. Each package lists its tables in a module
``records``, and `ultracluster_cli.records` has them all.

A code is never reused. UC1 file and YAML, UC2 identity and names, UC3 network, UC4 compute and capacity, UC5 storage,
UC6 jobs and queues, UC7 buying capacity, UC8 local AWS, UC9 accounts, tools and commands.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

from ultracluster_spec.findings import Finding, Severity


@dataclass(frozen=True, slots=True)
class RuleRecord:
    """The record of one rule.

    Attributes:
        code: Code of the rule, such as ``UC4101``.
        summary: What holds when the rule is kept, in one sentence.
        severity: Severity of its findings. Default: error.
        remedy: What to do about it, in one or two sentences.
        source: Where the rule comes from: a document with its date, or a decision of ours with its reason.
        example: A line that keeps the rule. Default: none, where a line does not show it.
        in_templates: Whether `ultracluster validate` finds it in templates.
        never_left_out: Whether it cannot be left out there: nodes that cost without working, purchases, open doors and
            credentials.
        suppressible: Whether a rollout file may switch the rule off with a reason.
    """

    code: str
    summary: str
    severity: Severity = field(default=Severity.ERROR, kw_only=True)
    remedy: str = field(kw_only=True)
    source: str = field(kw_only=True)
    example: str = field(default="", kw_only=True)
    in_templates: bool = field(default=False, kw_only=True)
    never_left_out: bool = field(default=False, kw_only=True)
    suppressible: bool = field(default=False, kw_only=True)


def by_code(*tables: Iterable[RuleRecord]) -> Mapping[str, RuleRecord]:
    """Return the records of tables by their codes, in the order of the codes."""
    return {record.code: record for record in sorted(chain(*tables), key=lambda record: record.code)}


def is_error(finding: Finding, records: Mapping[str, RuleRecord]) -> bool:
    """Return whether a finding stops the work: its record says so, or these records have none of it."""
    record = records.get(finding.code)
    return record is None or record.severity is Severity.ERROR
