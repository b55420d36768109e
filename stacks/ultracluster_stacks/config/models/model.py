"""Base class of the models of the rollout file."""

from pydantic import BaseModel, ConfigDict


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
