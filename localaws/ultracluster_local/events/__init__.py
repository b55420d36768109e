"""What happens when the clock is moved: schedules, events of Capacity Blocks, and their delivery to targets."""

__all__: list[str] = []
