"""Templates of stacks to compare."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ultracluster_spec.untrusted_files import parse_untrusted_json


@dataclass(frozen=True, kw_only=True, slots=True)
class StackTemplate:
    """A stack with its template.

    Attributes:
        cluster: Name of the stage; empty if unknown.
        account: Account ID in a cloud assembly. None is the account of the credentials.
        paths: Construct path by logical ID, as far as known.
        assembly: Directory of the assets. None if they are not available.
        size_bytes: Size of the template's text in bytes. 0 if unknown.
        settings: Properties of the stack in a cloud assembly, such as ``tags`` and ``terminationProtection``, and its
            ``displayName``. Empty if unknown.
    """

    cluster: str
    name: str
    region: str
    template: Mapping[str, Any]
    account: str | None = None
    paths: Mapping[str, str] = field(default_factory=dict)
    assembly: Path | None = None
    size_bytes: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """Key by which the old and the new template of a stack are matched."""
        return self.region, self.name

    @property
    def resources(self) -> Mapping[str, Mapping[str, Any]]:
        """Resources by logical ID."""
        resources: Mapping[str, Mapping[str, Any]] = self.template.get("Resources") or {}
        return resources


class _Loader(yaml.SafeLoader):
    """YAML in which a date such as 2012-10-17 stays a string."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_template(text: str) -> dict[str, Any]:
    """Parse a template: JSON, or YAML with functions in their long form, as the CDK CLI writes it."""
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
        raise ValueError("it has no Resources")  # noqa: TRY004 - the text is invalid, not a type
    return template
