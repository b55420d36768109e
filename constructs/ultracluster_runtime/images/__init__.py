"""Finding AMIs: those of AWS, and those that were baked."""

from ultracluster_runtime.images.machine_images import MachineImage, image_of_parameter, newest_baked_image

__all__ = ["MachineImage", "image_of_parameter", "newest_baked_image"]
