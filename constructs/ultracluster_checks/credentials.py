"""Credentials in templates, which everyone who may describe the stack can read."""

from collections.abc import Iterator
from typing import Any, Final

from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.model.values import Text
from ultracluster_checks.problem import Wrong, rule
from ultracluster_rules.credentials import credential_kind, names_credential

_DYNAMIC: Final = "{{resolve:"
_ALLOWED: Final = (
    "no credentials",
    "Take it out, renew it, and let what needs it read it from AWS Secrets Manager",
)


@rule("UC6409")
def no_credentials(templates: Templates) -> Iterator[Wrong]:
    """Find strings with the form of a credential, and environment variables named like one."""
    for resource in (each for template in templates.all for each in template.resources.values()):
        for path, text in _texts(resource.properties.path, resource.properties.value):
            if kind := credential_kind(text):
                yield Property(resource, path, text), f"this looks like {kind}", *_ALLOWED
        if resource.type == "AWS::IAM::AccessKey":
            got = "an access key does not expire, and outputs can show its secret"
            yield resource.properties, got, *_ALLOWED
        secret = resource["SecretString"]
        if resource.type == "AWS::SecretsManager::Secret" and secret.text and _DYNAMIC not in secret.text:
            yield secret, "the secret is text in the template", *_ALLOWED
        for name, value in _variables(resource):
            if value.text and _DYNAMIC not in value.text and names_credential(name):
                yield value, f"the variable {name} is a credential by its name", *_ALLOWED


def _texts(path: tuple[str | int, ...], value: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Return every text in a value, with its path; what is not known of it stays a gap."""
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts((*path, key), part)
    elif isinstance(value, str | Text):
        yield path, str(value)


def _variables(resource: Resource) -> Iterator[tuple[str, Property]]:
    yield from ((str(each.path[-1]), each) for each in resource["Environment"]["Variables"].members)
    ranges = resource["NodeProperties"]["NodeRangeProperties"].items
    containers = [resource["ContainerProperties"], *resource["ContainerDefinitions"].items]
    for container in (*containers, *(part["Container"] for part in ranges)):
        pairs = container["Environment"].items
        yield from (
            (str(pair["Name"].text), pair["Value"]) for pair in pairs if pair["Name"].text is not None
        )
