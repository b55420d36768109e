"""All template checks: importing this module registers the rules of every subject."""

from functools import cache
from typing import Final

from ultracluster_checks import (  # noqa: F401 - importing a module registers its rules
    containers,
    costs,
    credentials,
    environments,
    events,
    file_systems,
    interfaces,
    jobs,
    landing,
    launches,
    life,
    policies,
    reach,
    roles,
    scale_in,
    security_groups,
    settings,
    sizes,
    state,
    subnets,
    variables,
)
from ultracluster_checks.problem import REGISTERED, Find
from ultracluster_rules.registry import RULES

CHECKS: Final[tuple[Find, ...]] = tuple(REGISTERED)
"""Every check of templates."""


@cache
def template_codes() -> frozenset[str]:
    """Return every code that a template can break."""
    return frozenset(code for code, rule in RULES.items() if rule.in_templates)
