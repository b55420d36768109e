"""S3 buckets and their policies."""

import json
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from ultracluster_local.cloudformation.errors import ResourceError
from ultracluster_local.cloudformation.providers import Context, Provider, unless_gone
from ultracluster_local.cloudformation.resource_types.s3_settings import READ_SETTINGS, SETTINGS
from ultracluster_local.cloudformation.values import Properties, changed_keys, to_api
from ultracluster_local.instance.clients import service_model

__all__ = ["PROVIDERS"]


_AT_CREATION = {"BucketName", "ObjectLockEnabled"}
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


class _Bucket(Provider):
    """A bucket. Each setting is set by a separate operation."""

    def create(self, context: Context, properties: Properties) -> str:
        """Create the bucket, then put each setting."""
        bucket = properties.get("BucketName") or context.generated_name(limit=63, lower=True)
        request: dict[str, Any] = {"Bucket": bucket}
        _refuse_acl(properties)
        if context.region != "us-east-1":
            request["CreateBucketConfiguration"] = {"LocationConstraint": context.region}
        if str(properties.get("ObjectLockEnabled", False)).lower() == "true":
            request["ObjectLockEnabledForBucket"] = True
        if properties.get("BucketName") and self._exists(context, bucket):
            # Outside of us-east-1 S3 itself says so; there the call would succeed for the owner.
            raise ResourceError(f"{bucket} already exists")
        context.call("s3", "CreateBucket", request)
        try:
            # Before what they allow: replication needs versioning, and an ACL a bucket that takes one.
            first = (_VERSIONING, "OwnershipControls")
            for name, value in sorted(properties.items(), key=lambda item: item[0] not in first):
                if name not in _AT_CREATION:
                    self._set(context, bucket, name, value)
        except (ClientError, ResourceError):
            context.call("s3", "DeleteBucket", {"Bucket": bucket})
            raise
        return str(bucket)

    def _exists(self, context: Context, bucket: str) -> bool:
        try:
            context.call("s3", "HeadBucket", {"Bucket": bucket})
        except ClientError:
            return False
        return True

    def _set(self, context: Context, bucket: str, name: str, value: Any) -> None:
        if name == "MetricsConfigurations":
            _set_metrics(context, bucket, value)
            return
        if name not in SETTINGS:
            raise ResourceError(
                f"The local AWS does not support {name} of AWS::S3::Bucket; see `ultracluster docs local-aws`."
            )
        operation, parameter, convert, _ = SETTINGS[name]
        if name == "LoggingConfiguration":  # without a destination, a bucket logs to itself
            value = {"DestinationBucketName": bucket, **value}
        shape = service_model("s3").operation_model(operation).input_shape
        context.call("s3", operation, {"Bucket": bucket, **to_api(shape, {parameter: convert(value)})})

    def attributes(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any]:  # noqa: ARG002 - the name is all
        """Return the ARN and domain names of the bucket."""
        return {
            "Arn": f"arn:aws:s3:::{physical_id}",
            "DomainName": f"{physical_id}.s3.amazonaws.com",
            "RegionalDomainName": f"{physical_id}.s3.{context.region}.amazonaws.com",
            "DualStackDomainName": f"{physical_id}.s3.dualstack.{context.region}.amazonaws.com",
            "WebsiteURL": f"http://{physical_id}.s3-website-{context.region}.amazonaws.com",
        }

    def read(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any] | None:  # noqa: ARG002 - a provider's signature
        """Read the settings that S3 returns in the same form."""
        bucket = {"Bucket": physical_id}
        try:
            context.call("s3", "HeadBucket", bucket)
        except ClientError:
            return None
        shown: dict[str, Any] = {"BucketName": physical_id}
        for name, operation, pick in READ_SETTINGS:
            try:
                shown[name] = pick(context.call("s3", operation, bucket))
            except ClientError:  # the setting is absent
                shown[name] = None
        return shown

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        """Put changed settings, and delete removed ones."""
        # Versioning is enabled first and suspended last: S3 refuses replication without it.
        keys = sorted(changed_keys(old, new), key=lambda key: (key != _VERSIONING) == (_VERSIONING in new))
        for name in keys:
            if name == "MetricsConfigurations":
                _set_metrics(context, physical_id, new.get(name) or [])
                continue
            if name in new:
                self._set(context, physical_id, name, new[name])
                continue
            remove = SETTINGS[name][3]
            if remove:
                context.call("s3", remove, {"Bucket": physical_id})
            elif name == "VersioningConfiguration":
                self._set(context, physical_id, name, {"Status": "Suspended"})
            else:
                return super().update(context, physical_id, old, new)
        return physical_id

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:  # noqa: ARG002 - the name is all
        """Delete the bucket, if it is empty."""
        with unless_gone():
            context.call("s3", "DeleteBucket", {"Bucket": physical_id})


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


class _BucketPolicy(Provider):
    """A bucket policy, which is stored and not enforced."""

    def create(self, context: Context, properties: Properties) -> str:
        """Put the bucket policy."""
        request = {"Bucket": properties["Bucket"], "Policy": json.dumps(properties["PolicyDocument"])}
        context.call("s3", "PutBucketPolicy", request)
        return str(properties["Bucket"])

    def read(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any] | None:  # noqa: ARG002 - the name is all
        """Read the bucket policy."""
        try:
            text = context.call("s3", "GetBucketPolicy", {"Bucket": physical_id})["Policy"]
        except ClientError:
            return None
        return {"Bucket": physical_id, "PolicyDocument": json.loads(text)}

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:  # noqa: ARG002 - likewise
        """Put the new bucket policy."""
        return self.create(context, new)

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:  # noqa: ARG002 - likewise
        """Delete the bucket policy."""
        with unless_gone():
            context.call("s3", "DeleteBucketPolicy", {"Bucket": physical_id})


PROVIDERS: Mapping[str, Provider] = {"AWS::S3::Bucket": _Bucket(), "AWS::S3::BucketPolicy": _BucketPolicy()}
