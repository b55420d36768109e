"""Base class of the models of the rollout file."""

from typing import Any

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler

from ultracluster_spec.values import sentences


class ConfigModel(BaseModel):
    """Base of all models: immutable, without unknown keys, strict about types.

    Defaults of nested models use `model_construct`, which skips validation; a test validates all defaults.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        hide_input_in_errors=True,
        # Build validators only with the whole rollout, at first use, and not for each model separately.
        defer_build=True,
    )

    def differs(self, name: str) -> bool:
        """Return whether a field has another value than its default."""
        default = type(self).model_fields[name].get_default(call_default_factory=True)
        return bool(getattr(self, name) != default)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> Any:
        """Describe the fields by the docstrings below them."""
        schema = handler(core_schema)
        for name, field in handler.resolve_ref_schema(schema)["properties"].items():
            field["description"] = sentences(cls)[name]
        return schema
