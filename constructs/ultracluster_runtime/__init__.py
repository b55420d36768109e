"""Runtime library: buying and checking capacity, jobs, preflight, rollouts, and code that runs in Lambda and training jobs."""

__all__: list[str] = []
