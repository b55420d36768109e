"""Roles and policies as L2 constructs."""

from collections.abc import Iterator
from typing import Any

from expressions import Call, Static
from l2_call import new_construct

__all__ = ["instance_profile", "policy", "role", "topic_policy"]

_TLS_ONLY = "AllowPublishThroughSSLOnly"  # what enforce_ssl of a topic adds


def _statement(cluster: Any, statement: dict[str, Any]) -> Call:
    options: dict[str, Any] = {}
    if "Sid" in statement:
        options["sid"] = statement["Sid"]
    if statement["Effect"] == "Deny":
        options["effect"] = Static("iam_.Effect.DENY")
    options["actions"] = _listed(statement["Action"])
    if "Resource" in statement:
        options["resources"] = cluster.expression(_listed(statement["Resource"]))
    if "Condition" in statement:
        options["conditions"] = cluster.expression(statement["Condition"])
    if "Principal" in statement:
        options["principals"] = [_principal(cluster, statement["Principal"])]
    return Call("iam_.PolicyStatement", [], options)


def _principal(cluster: Any, principal: dict[str, Any], condition: Any = None) -> Call:
    options = {"conditions": cluster.expression(condition)} if condition else {}
    return Call("iam_.ServicePrincipal", [principal["Service"]], options)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def role(cluster: Any, place: tuple[str, str], properties: dict[str, Any]) -> Iterator[Call]:
    """Say a role, with its inline policies."""
    trust = properties["AssumeRolePolicyDocument"]["Statement"][0]
    inline = {
        policy["PolicyName"]: Call(
            "iam_.PolicyDocument",
            [],
            {"statements": [_statement(cluster, each) for each in policy["PolicyDocument"]["Statement"]]},
        )
        for policy in properties.get("Policies", [])
    }
    yield new_construct(
        cluster,
        place,
        "iam_.Role",
        assumed_by=_principal(cluster, trust["Principal"], trust.get("Condition")),
        description=properties.get("Description"),
        inline_policies=inline or None,
    )


def instance_profile(cluster: Any, place: tuple[str, str], properties: dict[str, Any]) -> Iterator[Call]:
    """Say an instance profile."""
    role = Static(cluster.variable(properties["Roles"][0]["of"]))
    yield new_construct(cluster, place, "iam_.InstanceProfile", role=role)


def policy(cluster: Any, place: tuple[str, str]) -> Iterator[Call] | None:
    """Say the policy of a role as statements added to it; None where the role is no L2."""
    properties = cluster.resource(place)["Properties"]
    role = properties["Roles"][0]["of"]
    if not cluster.is_l2(role):
        return None
    return (
        Call(f"{cluster.variable(role)}.add_to_policy", [_statement(cluster, each)])
        for each in properties["PolicyDocument"]["Statement"]
    )


def topic_policy(cluster: Any, place: tuple[str, str]) -> Iterator[Call]:
    """Say the policy of a topic as statements added to it."""
    properties = cluster.resource(place)["Properties"]
    topic = cluster.variable(properties["Topics"][0]["of"])
    return (
        Call(f"{topic}.add_to_resource_policy", [_statement(cluster, each)])
        for each in properties["PolicyDocument"]["Statement"]
        if each["Sid"] != _TLS_ONLY
    )
