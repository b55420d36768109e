"""Code that runs inside the process of a local Lambda function; each file is self-contained."""

__all__: list[str] = []
