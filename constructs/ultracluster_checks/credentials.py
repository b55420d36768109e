"""Credentials in templates, which everyone who may describe the stack can read."""

from collections.abc import Iterator
from typing import Final

from ultracluster_checks.problem import Problem
from ultracluster_checks.template import Property, Resource, Templates
from ultracluster_rules.credentials import credential_kind, names_credential

_DYNAMIC: Final = "{{resolve:"
_REMEDY: Final = "Take it out, renew it, and let what needs it read it from AWS Secrets Manager"


def no_credentials(templates: Templates) -> Iterator[Problem]:
    """Find strings with the form of a credential, and environment variables named like one."""
    for template in templates.all:
        for resource in template.resources.values():
            yield from _texts(resource.properties)
            for at in _variables(resource):
                name, value = at
                if value.text and _DYNAMIC not in value.text and names_credential(name):
                    yield Problem.of(
                        value,
                        "UC6409",
                        f"the variable {name} is a credential by its name",
                        "no credentials",
                        _REMEDY,
                    )


def _texts(at: Property) -> Iterator[Problem]:
    waiting = [at]
    while waiting:
        one = waiting.pop()
        if isinstance(one.value, dict | list):
            waiting += reversed([*one.members, *one.items])
        elif kind := credential_kind(one.pattern):
            yield Problem.of(one, "UC6409", f"this looks like {kind}", "no credentials", _REMEDY)


def _variables(resource: Resource) -> Iterator[tuple[str, Property]]:
    variables = resource["Environment"]["Variables"]
    yield from ((str(member.path[-1]), member) for member in variables.members)
    properties = resource.properties
    containers = [properties["ContainerProperties"], *properties["ContainerDefinitions"].items]
    containers += [part["Container"] for part in properties["NodeProperties"]["NodeRangeProperties"].items]
    for container in containers:
        for pair in container["Environment"].items:
            if pair["Name"].text is not None:
                yield str(pair["Name"].text), pair["Value"]
