"""S3 buckets and their policies."""

from collections.abc import Iterable, Mapping
from typing import Any

from ultracluster_local.cloudformation.errors import ResourceError
from ultracluster_local.cloudformation.providers import ApiProvider, Context, Provider
from ultracluster_local.cloudformation.resource_types.s3_settings import SETTINGS
from ultracluster_local.cloudformation.values import Properties

__all__ = ["PROVIDERS"]


_METRICS = "MetricsConfigurations"
_AT_CREATION = {"BucketName", "ObjectLockEnabled", _METRICS}
_VERSIONING = "VersioningConfiguration"


def _refuse_acl(properties: Properties) -> None:
    """Refuse an ACL of a bucket whose owner owns all objects, as all new ones do.

    https://docs.aws.amazon.com/AmazonS3/latest/userguide/about-object-ownership.html
    """
    rules = (properties.get("OwnershipControls") or {}).get("Rules") or [{}]
    owner = rules[0].get("ObjectOwnership", "BucketOwnerEnforced")
    if properties.get("AccessControl", "Private") != "Private" and owner == "BucketOwnerEnforced":
        raise ResourceError(
            "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting (Service: CreateBucket, Error Code: "
            "InvalidBucketAclWithObjectOwnership)"
        )


class _Bucket(ApiProvider):
    """A bucket. Each setting is set by a separate operation."""

    def create(self, context: Context, properties: Properties) -> str:
        _refuse_acl(properties)
        if properties.get("BucketName") and self.read(context, properties["BucketName"], {}):
            # Outside of us-east-1 S3 itself says so; there the call would succeed for the owner.
            raise ResourceError(f"{properties['BucketName']} already exists")
        unknown = set(properties) - {*self.settings, *_AT_CREATION}
        if unknown:
            raise ResourceError(
                f"The local AWS does not support {min(unknown)} of AWS::S3::Bucket; see `ultracluster docs local-aws`."
            )
        bucket = properties.get("BucketName") or context.generated_name(limit=63, lower=True)
        super().create(context, {**properties, "BucketName": bucket})
        try:
            _set_metrics(context, bucket, properties.get(_METRICS) or [])
        except ResourceError:
            self.delete(context, bucket, properties)
            raise
        return str(bucket)

    def _set(self, context: Context, physical_id: str, names: Iterable[str], properties: Properties) -> None:
        """Put settings; without a destination, a bucket logs to itself."""
        if "LoggingConfiguration" in properties:
            logs = {"DestinationBucketName": physical_id, **properties["LoggingConfiguration"]}
            properties = {**properties, "LoggingConfiguration": logs}
        super()._set(context, physical_id, names, properties)

    def attributes(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any]:  # noqa: ARG002 - the name is all
        return {
            "Arn": f"arn:aws:s3:::{physical_id}",
            "DomainName": f"{physical_id}.s3.amazonaws.com",
            "RegionalDomainName": f"{physical_id}.s3.{context.region}.amazonaws.com",
            "DualStackDomainName": f"{physical_id}.s3.dualstack.{context.region}.amazonaws.com",
            "WebsiteURL": f"http://{physical_id}.s3-website-{context.region}.amazonaws.com",
        }

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        """Put changed settings, and delete removed ones; versioning is suspended last, as S3 refuses replication without it."""
        if old.get(_METRICS) != new.get(_METRICS):
            _set_metrics(context, physical_id, new.get(_METRICS) or [])
        suspended = _VERSIONING in old and _VERSIONING not in new
        kept = {_VERSIONING: old[_VERSIONING]} if suspended else {}
        super().update(context, physical_id, old, {**new, **kept})
        if suspended:
            self._set(context, physical_id, [_VERSIONING], new)
        return physical_id


def _at_creation(context: Context, properties: dict[str, Any]) -> dict[str, Any]:
    place = {} if context.region == "us-east-1" else {"LocationConstraint": context.region}
    return properties | ({"CreateBucketConfiguration": place} if place else {})


def _set_metrics(context: Context, bucket: str, wanted: list[Mapping[str, Any]]) -> None:
    """Put each configuration by ID, and delete those that were removed."""
    for configuration in wanted:
        if unknown := set(configuration) - {"Id", "Prefix"}:
            raise ResourceError(
                f"The local AWS does not support {sorted(unknown)} of a metrics configuration"
            )
        request = {
            "Bucket": bucket,
            "Id": configuration["Id"],
            "MetricsConfiguration": {"Id": configuration["Id"]},
        }
        if "Prefix" in configuration:
            request["MetricsConfiguration"]["Filter"] = {"Prefix": configuration["Prefix"]}
        context.call("s3", "PutBucketMetricsConfiguration", request)
    listed = context.call("s3", "ListBucketMetricsConfigurations", {"Bucket": bucket})
    kept = {configuration["Id"] for configuration in wanted}
    for configuration in listed.get("MetricsConfigurationList", []):
        if configuration["Id"] not in kept:
            request = {"Bucket": bucket, "Id": configuration["Id"]}
            context.call("s3", "DeleteBucketMetricsConfiguration", request)


PROVIDERS: Mapping[str, Provider] = {
    "AWS::S3::Bucket": _Bucket(
        service="s3",
        creates="CreateBucket",
        id_path="=Bucket",
        deletes=("DeleteBucket", "Bucket"),
        reads=("GetBucketLocation", "Bucket", "@"),
        sends={"BucketName": "Bucket", "ObjectLockEnabled": "ObjectLockEnabledForBucket"},
        prepare=_at_creation,
        settings=SETTINGS,
        owner="Bucket",
        apart=frozenset({_METRICS}),
    ),
    "AWS::S3::BucketPolicy": ApiProvider(
        service="s3",
        creates="PutBucketPolicy",
        id_path="=Bucket",
        deletes=("DeleteBucketPolicy", "Bucket"),
        reads=("GetBucketPolicy", "Bucket", "@"),
        updates=("PutBucketPolicy", "Bucket"),
        sends={"PolicyDocument": "Policy"},
    ),
}
