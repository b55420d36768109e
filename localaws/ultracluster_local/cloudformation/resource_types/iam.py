"""IAM roles, users, groups, policies and instance profiles."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ultracluster_local.cloudformation.providers import (
    ApiProvider,
    Context,
    Provider,
    Setting,
    Tagging,
    unless_gone,
)
from ultracluster_local.cloudformation.values import Properties, changed_keys

__all__ = ["PROVIDERS"]


def _arns(properties: Properties) -> set[str]:
    return set(properties.get("ManagedPolicyArns") or [])


def _inline(properties: Properties) -> dict[str, Any]:
    return {policy["PolicyName"]: policy["PolicyDocument"] for policy in properties.get("Policies") or []}


class _Identity(ApiProvider):
    """A role, user or group with its inline and attached policies."""

    @property
    def _kind(self) -> str:
        return self.creates.removeprefix("Create")

    def create(self, context: Context, properties: Properties) -> str:
        name = super().create(context, properties)
        self._set_policies(context, name, {}, properties)
        return name

    def _set_policies(self, context: Context, name: str, old: Properties, new: Properties) -> None:
        kind, owner = self._kind, {f"{self._kind}Name": name}
        for arn in sorted(_arns(new) - _arns(old)):
            context.call("iam", f"Attach{kind}Policy", {**owner, "PolicyArn": arn})
        for arn in sorted(_arns(old) - _arns(new)):
            context.call("iam", f"Detach{kind}Policy", {**owner, "PolicyArn": arn})
        before, after = _inline(old), _inline(new)
        for policy, document in after.items():
            if before.get(policy) != document:
                request = {**owner, "PolicyName": policy, "PolicyDocument": json.dumps(document)}
                context.call("iam", f"Put{kind}Policy", request)
        for policy in sorted(set(before) - set(after)):
            context.call("iam", f"Delete{kind}Policy", {**owner, "PolicyName": policy})
        joined, left = set(new.get("Groups") or []), set(old.get("Groups") or [])
        for verb, groups in (("AddUserTo", joined - left), ("RemoveUserFrom", left - joined)):
            for group in sorted(groups):
                context.call("iam", f"{verb}Group", {**owner, "GroupName": group})

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        """Update policies and groups, the description with the duration of sessions, then all else."""
        self._set_policies(context, physical_id, old, new)
        together = {"Description", "MaxSessionDuration"}
        if together & set(changed_keys(old, new)):
            duration = int(new.get("MaxSessionDuration", 3600))
            request = {"Description": new.get("Description", ""), "MaxSessionDuration": duration}
            context.call("iam", "UpdateRole", {"RoleName": physical_id, **request})
        sides = ({key: part for key, part in side.items() if key not in together} for side in (old, new))
        return super().update(context, physical_id, *sides)

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:
        with unless_gone():
            self._set_policies(context, physical_id, properties, {})
        super().delete(context, physical_id, properties)


def _boundary(kind: str) -> dict[str, Setting]:
    put, remove = f"Put{kind}PermissionsBoundary", f"Delete{kind}PermissionsBoundary"
    return {"PermissionsBoundary": Setting(put=put, remove=remove, at_creation=True)}


class _InlinePolicy(Provider):
    """``AWS::IAM::Policy``: an inline policy of roles, users and groups."""

    def create(self, context: Context, properties: Properties) -> str:
        """Embed the policy; its ID is generated, since IAM has no such resource."""
        self._put(context, properties)
        return context.generated_name(limit=64)

    def _put(self, context: Context, properties: Properties) -> None:
        document = json.dumps(properties["PolicyDocument"])
        for kind, owner in _owners(properties):
            request = {
                f"{kind}Name": owner,
                "PolicyName": properties["PolicyName"],
                "PolicyDocument": document,
            }
            context.call("iam", f"Put{kind}Policy", request)

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        """Embed the new document and remove the old one from former owners."""
        self._put(context, new)
        same_name = old["PolicyName"] == new["PolicyName"]
        kept = set(_owners(new)) if same_name else set()
        self._take(context, old, kept)
        return physical_id

    def _take(self, context: Context, properties: Properties, kept: set[tuple[str, str]]) -> None:
        for kind, owner in _owners(properties):
            if (kind, owner) not in kept:
                request = {f"{kind}Name": owner, "PolicyName": properties["PolicyName"]}
                with unless_gone():
                    context.call("iam", f"Delete{kind}Policy", request)

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:  # noqa: ARG002 - likewise
        self._take(context, properties, set())


def _owners(properties: Properties) -> Iterator[tuple[str, str]]:
    for kind in ("Role", "User", "Group"):
        for owner in properties.get(f"{kind}s") or []:
            yield kind, owner


class _ManagedPolicy(ApiProvider):
    """A managed policy with its attachments."""

    def create(self, context: Context, properties: Properties) -> str:
        arn = super().create(context, properties)
        for kind, owner in _owners(properties):
            context.call("iam", f"Attach{kind}Policy", {f"{kind}Name": owner, "PolicyArn": arn})
        return arn

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        """Create a new default version, keeping one old version, and update attachments."""
        policy = {"PolicyArn": physical_id}
        if old["PolicyDocument"] != new["PolicyDocument"]:
            for version in context.call("iam", "ListPolicyVersions", policy)["Versions"]:
                if not version["IsDefaultVersion"]:
                    context.call("iam", "DeletePolicyVersion", {**policy, "VersionId": version["VersionId"]})
            request = {**policy, "PolicyDocument": json.dumps(new["PolicyDocument"]), "SetAsDefault": True}
            context.call("iam", "CreatePolicyVersion", request)
        before, after = set(_owners(old)), set(_owners(new))
        for verb, owners in (("Attach", after - before), ("Detach", before - after)):
            for kind, owner in sorted(owners):
                context.call("iam", f"{verb}{kind}Policy", {f"{kind}Name": owner, **policy})
        return physical_id

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:
        policy = {"PolicyArn": physical_id}
        for kind, owner in _owners(properties):
            with unless_gone():
                context.call("iam", f"Detach{kind}Policy", {f"{kind}Name": owner, **policy})
        for version in context.call("iam", "ListPolicyVersions", policy)["Versions"]:
            if not version["IsDefaultVersion"]:
                context.call("iam", "DeletePolicyVersion", {**policy, "VersionId": version["VersionId"]})
        super().delete(context, physical_id, properties)


class _InstanceProfile(ApiProvider):
    """An instance profile with its role."""

    def create(self, context: Context, properties: Properties) -> str:
        name = super().create(context, properties)
        self._set_roles(context, name, set(), set(properties["Roles"]))
        return name

    def _set_roles(self, context: Context, name: str, old: set[str], new: set[str]) -> None:
        profile = {"InstanceProfileName": name}
        for role in old - new:
            context.call("iam", "RemoveRoleFromInstanceProfile", {**profile, "RoleName": role})
        for role in new - old:
            context.call("iam", "AddRoleToInstanceProfile", {**profile, "RoleName": role})

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        self._set_roles(context, physical_id, set(old["Roles"]), set(new["Roles"]))
        return physical_id

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:
        with unless_gone():
            self._set_roles(context, physical_id, set(properties["Roles"]), set())
        super().delete(context, physical_id, properties)


_BY_THE_CLASS = frozenset({"ManagedPolicyArns", "Policies", "Groups"})

PROVIDERS: Mapping[str, Provider] = {
    "AWS::IAM::Role": _Identity.got(
        "iam",
        "Role",
        "RoleName",
        generates=("RoleName", 64),
        tagging=Tagging(service="iam", add="TagRole", remove="UntagRole", target="RoleName"),
        settings={
            "AssumeRolePolicyDocument": Setting(
                put="UpdateAssumeRolePolicy", sent="PolicyDocument", at_creation=True
            ),
            **_boundary("Role"),
        },
        owner="RoleName",
        apart=_BY_THE_CLASS,
    ),
    "AWS::IAM::User": _Identity.got(
        "iam",
        "User",
        "UserName",
        generates=("UserName", 64),
        tagging=Tagging(service="iam", add="TagUser", remove="UntagUser", target="UserName"),
        settings=_boundary("User"),
        owner="UserName",
        apart=_BY_THE_CLASS,
    ),
    "AWS::IAM::Group": _Identity.got(
        "iam", "Group", "GroupName", generates=("GroupName", 128), apart=_BY_THE_CLASS
    ),
    "AWS::IAM::Policy": _InlinePolicy(),
    "AWS::IAM::ManagedPolicy": _ManagedPolicy.got(
        "iam",
        "Policy",
        "PolicyArn",
        id_path="Policy.Arn",
        sends={"ManagedPolicyName": "PolicyName"},
        generates=("ManagedPolicyName", 128),
        apart=frozenset({"Roles", "Users", "Groups"}),
    ),
    "AWS::IAM::ServiceLinkedRole": ApiProvider.got(
        "iam", "ServiceLinkedRole", "RoleName", id_path="Role.RoleName", reads=("GetRole", "RoleName", "Role")
    ),
    "AWS::IAM::InstanceProfile": _InstanceProfile.got(
        "iam",
        "InstanceProfile",
        "InstanceProfileName",
        generates=("InstanceProfileName", 128),
        apart=frozenset({"Roles"}),
    ),
}
