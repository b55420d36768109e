"""The stacks to compare: a template with where it belongs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ultracluster_rules.untrusted_files import parse_untrusted_json

__all__ = ["StackTemplate", "read_template"]


@dataclass(frozen=True, kw_only=True, slots=True)
class StackTemplate:
    """One stack.

    Attributes:
        cluster: Name of its stage; empty if not known.
        name: Its name in CloudFormation.
        region: Its Region.
        template: Its template.
        paths: Construct path of each logical id, as far as known.
        assembly: The folder with its assets. None if they are not on this machine.
        size_bytes: Size of the template's text. 0 if not known.
    """

    cluster: str
    name: str
    region: str
    template: Mapping[str, Any]
    paths: Mapping[str, str] = field(default_factory=dict)
    assembly: Path | None = None
    size_bytes: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """What two templates of the same stack have in common."""
        return self.region, self.name

    @property
    def resources(self) -> Mapping[str, Mapping[str, Any]]:
        """Its resources by logical id."""
        found: Mapping[str, Mapping[str, Any]] = self.template.get("Resources") or {}
        return found


class _Loader(yaml.SafeLoader):
    """YAML in which a date such as 2012-10-17 stays text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_template(text: str) -> dict[str, Any]:
    """Read a template: JSON, or YAML with functions in their long form, which is what the CDK CLI writes.

    Raises:
        ValueError: If it is neither.
    """
    try:
        if text.lstrip().startswith("{"):
            template = parse_untrusted_json(text)
        else:
            template = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(template, dict) or not isinstance(template.get("Resources"), dict):
        raise ValueError("it has no Resources")  # noqa: TRY004 - the text is wrong, no type of ours
    return template
