"""CloudWatch dashboards."""

__all__: list[str] = []
