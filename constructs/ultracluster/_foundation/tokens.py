"""What a template knows of a value."""

import re
from collections.abc import Collection, Iterable
from typing import Any, Final, TypeVar, cast

from aws_cdk import CfnParameter, Reference, Tokenization
from aws_cdk import aws_ec2 as ec2

from ultracluster_spec.findings import Finding, is_token
from ultracluster_spec.rules import Rule, findings
from ultracluster_spec.values import Value, broken_bounds

_Value = TypeVar("_Value", bound=Value)

# What the CDK returns until its command line has looked a value up: `ec2.MachineImage.lookup` and
# `ssm.StringParameter.value_from_lookup` of aws-cdk-lib. An app that refuses it ends before the look-up.
_PLACEHOLDER: Final = re.compile(r"ami-1234|dummy-value-for-.*")


def known(value: _Value, *, besides: Collection[str] = ()) -> _Value:
    """Return a value without the fields that only the deployment knows, which rules therefore do not judge.

    The fields `besides` stay: a template has to know them.
    """
    return value.without(
        {name for name, content in value.known().items() if name not in besides and not is_known(content)}
    )


def is_known(content: Any) -> bool:
    """Return whether a value is neither a token nor the placeholder of a look-up."""
    if isinstance(content, str) and _PLACEHOLDER.fullmatch(content):
        return False
    return not is_token(content)


def follows_a_parameter(text: str) -> bool:
    """Return whether a text is read from a parameter of Systems Manager at each deployment."""
    target = _target(text)
    return isinstance(target, CfnParameter) and target.type.startswith("AWS::SSM::Parameter::Value<")


def are_other_vpcs(one: str, other: str) -> bool:
    """Return whether two IDs are known to be of different VPCs; a VPC of the app is none with an ID that is known."""
    return one != other and all(
        is_known(each) or isinstance(_target(each), ec2.CfnVPC) for each in (one, other)
    )


def _target(text: str) -> Any:
    """Return the construct that a text refers to, if it is one reference."""
    token = Tokenization.reverse_string(text).first_token if is_token(text) else None
    return cast("Reference", token).target if token is not None and Reference.is_reference(token) else None


def check_known(
    value: Value, rules: Iterable[Rule[Any]] = (), *, besides: Collection[str] = ()
) -> list[Finding]:
    """Return the bounds and rules that a value breaks, as far as a template knows its fields; see `known`.

    A field that breaks its bound is unset for the rules.
    """
    own = known(value, besides=besides)
    found = broken_bounds(own, is_known=is_known)
    return found + findings(rules, own.without({finding.path for finding in found}))
