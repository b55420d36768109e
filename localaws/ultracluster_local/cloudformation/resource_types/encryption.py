"""KMS keys and aliases, SSM parameters, ECR repositories and CDK metadata."""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.providers import ApiProvider, Context, Provider, Setting, Tagging
from ultracluster_local.cloudformation.values import Properties, changed_keys

__all__ = ["PROVIDERS"]

_LATER = frozenset({"EnableKeyRotation", "RotationPeriodInDays", "Enabled"})


class _Key(ApiProvider):
    """A KMS key."""

    def create(self, context: Context, properties: Properties) -> str:
        tags = {tag["Key"]: tag["Value"] for tag in properties.get("Tags") or []}
        given = {key: part for key, part in properties.items() if key != "Tags"}
        key_id = super().create(context, given | ({"Tags": tags} if tags else {}))
        self._set_state(context, key_id, properties)
        return key_id

    def _set_state(self, context: Context, key_id: str, properties: Properties) -> None:
        key = {"KeyId": key_id}
        if str(properties.get("EnableKeyRotation", False)).lower() == "true":
            period = {"RotationPeriodInDays": int(properties.get("RotationPeriodInDays", 365))}
            context.call("kms", "EnableKeyRotation", {**key, **period})
        else:
            context.call("kms", "DisableKeyRotation", key)
        enabled = str(properties.get("Enabled", True)).lower() == "true"
        context.call("kms", "EnableKey" if enabled else "DisableKey", key)

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        changed = set(changed_keys(old, new))
        if changed & _LATER:
            self._set_state(context, physical_id, new)
        return super().update(context, physical_id, old, new)

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:
        """Schedule the deletion of the key, as CloudFormation does."""
        window = int(properties.get("PendingWindowInDays", 30))
        context.call("kms", "ScheduleKeyDeletion", {"KeyId": physical_id, "PendingWindowInDays": window})


class _Alias(ApiProvider):
    """An alias of a key."""

    def read(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any] | None:  # noqa: ARG002 - KMS has no filter for names
        """Find the alias among those of all keys."""
        aliases = context.call("kms", "ListAliases", {})["Aliases"]
        return next((one for one in aliases if one["AliasName"] == physical_id), None)


class _Parameter(ApiProvider):
    """An SSM parameter, whose generated name begins with ``CFN-``: a stack may be named ``ssm-…``, a parameter may not."""

    def create(self, context: Context, properties: Properties) -> str:
        name = properties.get("Name") or f"CFN-{context.generated_name(limit=100)}"
        return super().create(context, {**properties, "Name": name})


class _Repository(ApiProvider):
    """An ECR repository."""

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:
        """Delete the repository, with its images if the template says so."""
        force = str(properties.get("EmptyOnDelete", False)).lower() == "true"
        context.call("ecr", "DeleteRepository", {"repositoryName": physical_id, "force": force})


class _Marker(Provider):
    """``AWS::CDK::Metadata``, which has no physical resource."""

    def create(self, context: Context, properties: Properties) -> str:  # noqa: ARG002 - nothing is made
        return context.generated_name()

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:  # noqa: ARG002 - nothing is made
        return physical_id

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:
        """Do nothing: there is no physical resource."""


PROVIDERS: Mapping[str, Provider] = {
    "AWS::KMS::Key": _Key(
        service="kms",
        creates="CreateKey",
        id_path="KeyMetadata.KeyId",
        reads=("DescribeKey", "KeyId", "KeyMetadata"),
        sends={"KeyPolicy": "Policy"},
        settings={
            "KeyPolicy": Setting(
                put="PutKeyPolicy",
                sent=lambda value: {"PolicyName": "default", "Policy": value},
                at_creation=True,
            ),
            "Description": Setting(put="UpdateKeyDescription", absent="", at_creation=True),
        },
        owner="KeyId",
        apart=frozenset({"PendingWindowInDays", *_LATER}),
        tagging=Tagging(service="kms", target="KeyId"),
    ),
    "AWS::KMS::Alias": _Alias(
        service="kms",
        creates="CreateAlias",
        id_path="=AliasName",
        deletes=("DeleteAlias", "AliasName"),
        updates=("UpdateAlias", "AliasName"),
        prepare=lambda _, properties: {
            key: part.rsplit("/", 1)[-1] if key == "TargetKeyId" else part for key, part in properties.items()
        },
    ),
    "AWS::SSM::Parameter": _Parameter(
        service="ssm",
        creates="PutParameter",
        id_path="=Name",
        deletes=("DeleteParameter", "Name"),
        reads=("GetParameter", "Name", "Parameter"),
        attribute_paths={"Value": "Value", "Type": "Type"},
        updates=("PutParameter", lambda _, name, __: {"Name": name, "Overwrite": True}),
        tagging=Tagging(
            service="ssm",
            add="AddTagsToResource",
            remove="RemoveTagsFromResource",
            target="ResourceId",
            fixed={"ResourceType": "Parameter"},
        ),
    ),
    "AWS::ECR::Repository": _Repository(
        service="ecr",
        creates="CreateRepository",
        id_path="repository.repositoryName",
        reads=("DescribeRepositories", "repositoryNames[]", "repositories[0]"),
        generates=("RepositoryName", 255),
        settings={
            "LifecyclePolicy": Setting(put="PutLifecyclePolicy", sent=dict, remove="DeleteLifecyclePolicy"),
            "RepositoryPolicyText": Setting(
                put="SetRepositoryPolicy", sent="policyText", remove="DeleteRepositoryPolicy"
            ),
            "ImageTagMutability": Setting(put="PutImageTagMutability", absent="MUTABLE", at_creation=True),
            "ImageScanningConfiguration": Setting(
                put="PutImageScanningConfiguration", absent={"scanOnPush": False}, at_creation=True
            ),
        },
        owner="repositoryName",
        apart=frozenset({"EmptyOnDelete"}),
        prepare=lambda _, properties: {
            key: part.lower() if key == "RepositoryName" else part for key, part in properties.items()
        },
        tagging=Tagging(service="ecr", attribute="Arn"),
    ),
    "AWS::ECR::PullThroughCacheRule": ApiProvider.described(
        "ecr",
        "PullThroughCacheRule",
        "ecrRepositoryPrefix",
        id_path="ecrRepositoryPrefix",
        reads=("DescribePullThroughCacheRules", "ecrRepositoryPrefixes[]", "pullThroughCacheRules[0]"),
    ),
    "AWS::CDK::Metadata": _Marker(),
}
