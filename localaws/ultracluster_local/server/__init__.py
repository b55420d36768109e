"""HTTP server, daemon and installation into moto."""

__all__: list[str] = []
