"""The values that a value is made of."""

from ultracluster_spec.values import Value, annotations
from ultracluster_stacks.config.reading.partial import part_of


def parts_of(part: type[Value]) -> dict[str, type[Value]]:
    """Return a value and all values of its fields, by their names."""
    found = {part.__name__: part}
    for inner in filter(None, map(part_of, annotations(part).values())):
        found |= parts_of(inner)
    return found
