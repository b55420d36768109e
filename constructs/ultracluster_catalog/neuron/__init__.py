"""Neuron SDK: images, containers, settings and compiler flags."""
