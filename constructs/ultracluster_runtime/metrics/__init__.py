"""Reading and comparing recorded metrics."""

__all__: list[str] = []
