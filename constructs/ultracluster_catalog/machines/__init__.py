"""Instance types, network cards, UltraServers and peak FLOPS."""
