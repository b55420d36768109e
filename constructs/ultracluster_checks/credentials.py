"""Credentials in templates, which everyone who may describe the stack can read."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_checks.model.template import Property, Templates
from ultracluster_checks.model.values import Text
from ultracluster_checks.problem import Wrong, rule
from ultracluster_spec.credentials import credential_kind, names_credential
from ultracluster_spec.record import RuleRecord

_SECRETS: Final = {"AuthToken", "MasterUserPassword", "OAuthToken", "Password", "SecretString"}
_ASSIGNED: Final = re.compile(r"""\b([A-Z][A-Z0-9_]{3,})=(?!["']?[$({])["']?[^\s"']{8}""")
_REFERENCE: Final = re.compile(
    r"alias/|arn:"
)  # names a key or a secret, as `EncryptionKey` of AWS CodeBuild does
_ALLOWED: Final = (
    "no credentials",
    "Take it out, renew it, and let what needs it read it from AWS Secrets Manager",
)


@rule("UC6409")
def no_credentials(templates: Templates) -> Iterator[Wrong]:
    """Find strings with the form of a credential, and environment variables named like one."""
    for resource in templates.resources:
        if resource.type == "AWS::IAM::AccessKey":
            got = "an access key does not expire, and outputs can show its secret"
            yield resource.properties, got, *_ALLOWED
        for name, at in _named(resource.properties):
            if isinstance(at.value, str | Text) and (kind := credential_kind(at.pattern)):
                yield at, f"this looks like {kind}", *_ALLOWED
            # A switch such as GenerateSecret is none.
            text = "" if at.text in (None, "true", "false") else str(at.text)
            secret = text and "placeholder" not in text.lower() and not _REFERENCE.match(text)
            if secret and (name in _SECRETS or names_credential(name)):
                yield at, f"{name} is a credential by its name", *_ALLOWED
        for at in (resource["LaunchTemplateData"]["UserData"], resource["UserData"], resource["Data"]):
            for name in (found[1] for found in _ASSIGNED.finditer(at.pattern) if names_credential(found[1])):
                yield at, f"{name} is set to text, which everyone on the node can read", *_ALLOWED


def _named(at: Property) -> Iterator[tuple[str, Property]]:
    """Return the members of a mapping and of all in it by their names, and values of pairs by the name beside them."""
    pair = at["Name"].text or at["Key"].text if isinstance(at.value, dict) else None
    for each in at.parts:
        yield pair if pair and each.path[-1] == "Value" else str(each.path[-1]), each
        yield from _named(each)


RECORDS: Final = (
    RuleRecord(
        "UC6409",
        "A template contains no credentials.",
        remedy="Remove it from the template, rotate it, and let the job read it from AWS Secrets Manager.",
        source="Our decision: whoever may describe a stack reads its template.",
        never_left_out=True,
    ),
)
