"""Neuron SDK: images, containers, settings and compiler flags."""

__all__: list[str] = []
