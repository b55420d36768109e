"""Lambda functions, permissions, layers and asynchronous invocation settings."""

import io
import zipfile
from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.errors import ResourceError
from ultracluster_local.cloudformation.providers import (
    ApiProvider,
    Context,
    Provider,
    Setting,
    Tagging,
    unless_gone,
)
from ultracluster_local.cloudformation.values import Properties, changed_keys, to_api
from ultracluster_local.instance.clients import service_model

__all__ = ["PROVIDERS"]

_BESIDE_CONFIGURATION = {"Code", "ReservedConcurrentExecutions", "Tags", "Architectures", "PackageType"}


def _code(properties: Properties) -> dict[str, Any]:
    """Convert inline code to a ZIP archive."""
    code = dict(properties["Code"])
    if "ImageUri" in code:
        raise ResourceError("The local AWS runs functions from archives; container images need Docker.")
    code.pop("SourceKMSKeyArn", None)
    if "ZipFile" in code:
        suffix = "js" if str(properties.get("Runtime", "")).startswith("nodejs") else "py"
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            # A fixed date makes archives reproducible.
            archive.writestr(zipfile.ZipInfo(f"index.{suffix}"), code.pop("ZipFile"))
        code["ZipFile"] = buffer.getvalue()
    return code


class _Function(ApiProvider):
    """A Lambda function."""

    def create(self, context: Context, properties: Properties) -> str:
        return super().create(context, {**properties, "Code": _code(properties)})

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        changed = set(changed_keys(old, new))
        function = {"FunctionName": physical_id}
        if changed & {"Code", "Architectures"}:
            shape = service_model("lambda").operation_model("UpdateFunctionCode").input_shape
            architectures = {"Architectures": new["Architectures"]} if "Architectures" in new else {}
            code = {
                key: part
                for key, part in _code(new).items()
                if key in {"S3Bucket", "S3Key", "S3ObjectVersion", "ZipFile"}
            }
            context.call("lambda", "UpdateFunctionCode", to_api(shape, {**function, **code, **architectures}))
        if changed - _BESIDE_CONFIGURATION:
            shape = service_model("lambda").operation_model("UpdateFunctionConfiguration").input_shape
            rest = {
                key: part for key, part in new.items() if key not in {*_BESIDE_CONFIGURATION, "FunctionName"}
            }
            context.call("lambda", "UpdateFunctionConfiguration", to_api(shape, {**rest, **function}))
        kept = ("Tags", *self.settings)
        sides = ({key: side[key] for key in kept if key in side} for side in (old, new))
        return super().update(context, physical_id, *sides)


class _Permission(Provider):
    """A statement of a function's resource policy."""

    def create(self, context: Context, properties: Properties) -> str:
        statement = context.generated_name(limit=100)
        names = {"FunctionUrlAuthType", "InvokedViaFunctionUrl"}
        request = {key: part for key, part in properties.items() if key not in names}
        context.call("lambda", "AddPermission", {**request, "StatementId": statement})
        return statement

    def attributes(self, context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any]:  # noqa: ARG002 - the id is all
        return {"Id": physical_id}

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:
        request = {"FunctionName": properties["FunctionName"], "StatementId": physical_id}
        with unless_gone():
            context.call("lambda", "RemovePermission", request)


def _layer(context: Context, physical_id: str, properties: Properties) -> Mapping[str, Any]:  # noqa: ARG001 - a provider's signature
    *_, name, version = physical_id.split(":")
    return {"LayerName": name, "VersionNumber": int(version)}


PROVIDERS: Mapping[str, Provider] = {
    "AWS::Lambda::Function": _Function(
        service="lambda",
        creates="CreateFunction",
        id_path="FunctionName",
        deletes=("DeleteFunction", "FunctionName"),
        reads=("GetFunctionConfiguration", "FunctionName", "@"),
        generates=("FunctionName", 64),
        settings={
            "ReservedConcurrentExecutions": Setting(
                put="PutFunctionConcurrency", remove="DeleteFunctionConcurrency"
            )
        },
        owner="FunctionName",
        tagging=Tagging(service="lambda", target="Resource", attribute="Arn"),
    ),
    "AWS::Lambda::Permission": _Permission(),
    "AWS::Lambda::LayerVersion": ApiProvider(
        service="lambda",
        creates="PublishLayerVersion",
        id_path="LayerVersionArn",
        deletes=("DeleteLayerVersion", _layer),
        reads=("GetLayerVersion", _layer, "@"),
        generates=("LayerName", 64),
    ),
    "AWS::Lambda::EventInvokeConfig": ApiProvider(
        service="lambda",
        creates="PutFunctionEventInvokeConfig",
        updates=("PutFunctionEventInvokeConfig", "FunctionName"),
        whole=True,
        id_path="=FunctionName",
        deletes=("DeleteFunctionEventInvokeConfig", "FunctionName"),
        reads=("GetFunctionEventInvokeConfig", "FunctionName", "@"),
        apart=frozenset({"Qualifier"}),
    ),
}
