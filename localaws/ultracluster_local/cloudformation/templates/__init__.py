"""Templates: parsing, validation, parameters and functions."""

__all__: list[str] = []
