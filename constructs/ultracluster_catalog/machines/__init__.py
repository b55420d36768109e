"""Instance types, network cards, UltraServers and peak FLOPS."""

__all__: list[str] = []
