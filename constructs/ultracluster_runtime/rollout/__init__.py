"""Rolling out cluster by cluster and wave by wave: what is planned, what was done, and what comes next."""

__all__: list[str] = []
