"""Secrets."""

import json
from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.providers import ApiProvider, Context, Provider, Tagging
from ultracluster_local.cloudformation.values import Properties, to_api
from ultracluster_local.instance.clients import service_model

__all__ = ["PROVIDERS"]


class _Secret(ApiProvider):
    def create(self, context: Context, properties: Properties) -> str:
        """Create the secret, with a generated value if the template asks for one."""
        given = {**properties, "Name": properties.get("Name") or context.generated_name(limit=512)}
        generated = given.pop("GenerateSecretString", None)
        if generated is not None:
            given["SecretString"] = self._generated(context, generated)
        return super().create(context, given)

    @staticmethod
    def _generated(context: Context, wanted: Mapping[str, Any]) -> str:
        shape = service_model("secretsmanager").operation_model("GetRandomPassword").input_shape
        rest = {
            key: part
            for key, part in wanted.items()
            if key not in {"SecretStringTemplate", "GenerateStringKey"}
        }
        password = context.call("secretsmanager", "GetRandomPassword", to_api(shape, rest))["RandomPassword"]
        if "GenerateStringKey" not in wanted:
            return str(password)
        values = json.loads(wanted.get("SecretStringTemplate") or "{}")
        return json.dumps(values | {wanted["GenerateStringKey"]: password})


PROVIDERS: Mapping[str, Provider] = {
    "AWS::SecretsManager::Secret": _Secret(
        service="secretsmanager",
        creates="CreateSecret",
        id_path="ARN",
        deletes=("DeleteSecret", "SecretId"),
        reads=("DescribeSecret", "SecretId", "@"),
        updates=("UpdateSecret", "SecretId"),
        tagging=Tagging(service="secretsmanager", target="SecretId"),
    )
}
