"""Machine images and container images."""
