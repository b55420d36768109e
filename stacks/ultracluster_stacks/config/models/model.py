"""Base class of the models of the rollout file."""

from pydantic import BaseModel, ConfigDict

__all__ = ["ConfigModel"]


class ConfigModel(BaseModel):
    """A part of the rollout: cannot be changed, refuses unknown keys, converts no type silently.

    The default of a part is its `model_construct`: validators would be built for that alone. A test validates them all.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        hide_input_in_errors=True,
        # Built once as a part of the whole rollout, at its first use; else each part is built by itself as well.
        defer_build=True,
    )
