"""Effects of moving the clock: schedules, events of Capacity Blocks, and their delivery to targets."""

__all__: list[str] = []
