"""Find AMIs: those of AWS, and those built by a NeuronAmi."""

from ultracluster_runtime.images.machine_images import MachineImage, image_of_parameter, newest_baked_image

__all__ = ["MachineImage", "image_of_parameter", "newest_baked_image"]
