"""What needs AWS at run time: finding, buying and checking capacity."""

__all__: list[str] = []
