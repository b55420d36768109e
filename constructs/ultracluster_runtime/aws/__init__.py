"""Sessions and errors of AWS calls."""

__all__: list[str] = []
