"""SNS, SQS, EventBridge and its schedules."""

__all__: list[str] = []
