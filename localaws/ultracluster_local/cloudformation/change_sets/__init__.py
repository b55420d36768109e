"""Change sets and what they say of a template's changes."""

__all__: list[str] = []
