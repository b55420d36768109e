"""The records of the rules of rollout files, templates and assemblies."""

from typing import Final

from ultracluster_checks.table import RECORDS as TEMPLATES
from ultracluster_spec.record import by_code
from ultracluster_stacks import cloud_assembly, export, yaml_template
from ultracluster_stacks.check import reading
from ultracluster_stacks.config.loading import error_messages, loader, suppressions
from ultracluster_stacks.config.records import RECORDS as CONTENT
from ultracluster_stacks.plan.headroom import RECORDS as HEADROOM

RECORDS: Final = by_code(
    CONTENT.values(),
    TEMPLATES.values(),
    reading.RECORDS,
    cloud_assembly.RECORDS,
    yaml_template.RECORDS,
    error_messages.RECORDS,
    loader.RECORDS,
    suppressions.RECORDS,
    export.RECORDS,
    HEADROOM,
)
"""Every record of a rule about files, by its code."""
