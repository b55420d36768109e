"""Container images stand for folders of programs of this machine; nothing is pulled."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from ultracluster_local.services.handlers import ServiceError

__all__ = ["programs_of"]

# https://github.com/aws/deep-learning-containers/blob/master/available_images.md and https://gallery.ecr.aws/neuron, 2026-11.
# They have the Neuron compiler and runtime; this Python has neither, so programs must be able to run without.
_NEURON_IMAGES = re.compile(
    r"(763104351884\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com|public\.ecr\.aws/neuron)/"
    r"(pytorch|jax)-(training|inference)-neuronx"
)


def programs_of(image: str, images: Mapping[str, Path]) -> Path:
    """Return the folder of programs that comes first in the search path of a container.

    Args:
        image: Image of the container, with or without tag and digest.
        images: Folders by image without tag.

    Raises:
        ServiceError: If no folder stands for the image.
    """
    repository = re.sub(r"(@sha256:[0-9a-f]{64}|:[\w.-]{1,128})*$", "", image)
    for known in (image, repository):
        if known in images:
            return images[known]
    if _NEURON_IMAGES.fullmatch(repository):
        return Path(sys.executable).parent
    raise ServiceError(
        "CannotPullContainerError",
        f"The local AWS pulls no images, and no folder of programs takes the place of {repository}",
    )
