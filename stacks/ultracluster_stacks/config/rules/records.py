"""The records of the rules of a rollout file that can be read."""

from typing import Final

from ultracluster_spec.record import by_code
from ultracluster_spec.records import RECORDS as VALUES
from ultracluster_stacks.config.reading import environment, problem, scalars, source_file, yaml_source
from ultracluster_stacks.config.rules import (
    alarm_rules,
    job_rules,
    network_rules,
    placement_rules,
    queue_rules,
    rollout_rules,
    storage_rules,
)

RECORDS: Final = by_code(
    VALUES.values(),
    environment.RECORDS,
    problem.RECORDS,
    scalars.RECORDS,
    source_file.RECORDS,
    yaml_source.RECORDS,
    alarm_rules.RECORDS,
    job_rules.RECORDS,
    network_rules.RECORDS,
    placement_rules.RECORDS,
    queue_rules.RECORDS,
    rollout_rules.RECORDS,
    storage_rules.RECORDS,
)
"""Every record of a rule about the content of a rollout file, by its code."""
