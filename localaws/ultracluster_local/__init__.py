"""A local AWS on moto: for the demo, for our tests and for users' own tests."""

__all__: list[str] = []
