"""The records of the rules of a rollout file that can be read."""

from typing import Final

from ultracluster_spec.record import by_code
from ultracluster_spec.records import RECORDS as VALUES
from ultracluster_stacks.config.reading import environment, problem, scalars, source_file, yaml_source

RECORDS: Final = by_code(
    VALUES.values(),
    environment.RECORDS,
    problem.RECORDS,
    scalars.RECORDS,
    source_file.RECORDS,
    yaml_source.RECORDS,
)
"""Every record of a rule about the content of a rollout file, by its code."""
