"""All template checks: importing this module registers the rules of every subject."""

from dataclasses import replace
from functools import cache
from typing import Final

from ultracluster_checks import (  # noqa: F401 - importing a module registers its rules
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
from ultracluster_spec.record import by_code
from ultracluster_spec.records import RECORDS as VALUES

CHECKS: Final[tuple[Find, ...]] = tuple(REGISTERED)
"""Every check of templates."""

_OF_TEMPLATES: Final = (
    *block_lifecycle.RECORDS,
    *codes.RECORDS,
    *containers.RECORDS,
    *costs.RECORDS,
    *credentials.RECORDS,
    *environments.RECORDS,
    *file_systems.RECORDS,
    *interfaces.RECORDS,
    *jobs.RECORDS,
    *launches.RECORDS,
    *policies.RECORDS,
    *reservation_targets.RECORDS,
    *roles.RECORDS,
    *security_groups.RECORDS,
    *settings.RECORDS,
    *state.RECORDS,
    *subnets.RECORDS,
)

RECORDS: Final = by_code(
    VALUES.values(),
    problem.RECORDS,
    [replace(record, in_templates=True) for record in _OF_TEMPLATES],
)
"""Every record of a rule about values or templates, by its code."""


@cache
def template_codes() -> frozenset[str]:
    """Return every code that a template can break."""
    return frozenset(code for code, record in RECORDS.items() if record.in_templates)
