"""All template checks: importing this module registers the rules of every subject."""

from dataclasses import replace
from functools import cache
from typing import Final

from ultracluster_checks import (
    block_lifecycle,
    codes,
    connectivity,
    containers,
    costs,
    credentials,
    environments,
    events,
    file_systems,
    interfaces,
    jobs,
    launches,
    policies,
    problem,
    reservation_targets,
    roles,
    scale_in,
    security_groups,
    settings,
    state,
    subnets,
    variables,
)
from ultracluster_checks.problem import REGISTERED, Find
from ultracluster_spec.record import RuleRecord, by_code
from ultracluster_spec.records import RECORDS as VALUES

CHECKS: Final[tuple[Find, ...]] = tuple(REGISTERED)
"""Every check of templates."""

_SUBJECTS: Final = (
    block_lifecycle, codes, connectivity, containers, costs, credentials, environments, events, file_systems,
    interfaces, jobs, launches, policies, reservation_targets, roles, scale_in, security_groups, settings,
    state, subnets, variables,
)  # fmt: skip


def _of_templates() -> list[RuleRecord]:
    return [
        replace(record, in_templates=True)
        for subject in _SUBJECTS
        for record in getattr(subject, "RECORDS", ())
    ]


RECORDS: Final = by_code(VALUES.values(), problem.RECORDS, _of_templates())
"""Every record of a rule about values or templates, by its code."""


@cache
def template_codes() -> frozenset[str]:
    """Return every code that a template can break."""
    return frozenset(code for code, record in RECORDS.items() if record.in_templates)
