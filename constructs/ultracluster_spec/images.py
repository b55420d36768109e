"""Rules for AMIs and container images."""

import itertools
import re
from collections.abc import Collection, Sequence
from typing import Final, get_args

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_catalog.names.identifiers import IMAGE_ID
from ultracluster_catalog.neuron.compiler_flags import INTEGER_DEFAULTS, split_compiler_flags
from ultracluster_catalog.neuron.neuron_containers import (
    NEURON_CONTAINERS,
    PUBLIC_GALLERY,
    Framework,
    NeuronContainer,
    container_of_reference,
)
from ultracluster_catalog.neuron.neuron_images import IMAGE_KINDS, NeuronImage
from ultracluster_spec.bounds import Form
from ultracluster_spec.findings import Finding, FindingsError, Severity, quote, require
from ultracluster_spec.record import RuleRecord


def neuron_container(framework: Framework, instance_type: InstanceType) -> NeuronContainer:
    """Return the newest AWS Neuron image of a framework for an instance type.

    Raises:
        FindingsError: UC6333 for an unknown framework, UC6331 if no image of it runs on the type's chip.
    """
    frameworks = get_args(Framework)
    if framework not in frameworks:
        raise FindingsError.of("UC6333", f"got {quote(framework)}", allowed=", ".join(frameworks))
    for row in NEURON_CONTAINERS:
        if row.framework == framework and instance_type.accelerator in row.accelerators:
            return row
    others = {
        row.framework: None for row in NEURON_CONTAINERS if instance_type.accelerator in row.accelerators
    }
    raise FindingsError.of(
        "UC6331",
        f"no image of {framework} runs on {instance_type.name} ({instance_type.accelerator})",
        allowed=", ".join(others) or "none of AWS's Neuron images runs on it",
    )


def check_container(image: str, instance_type: InstanceType) -> list[Finding]:
    """Check that an AWS Neuron image, or a copy of it, supports the chips of an instance type (UC6330)."""
    row = container_of_reference(image)
    if row is None:
        return []
    return require(
        instance_type.accelerator in row.accelerators,
        "UC6330",
        f"{row.repository} with {row.framework} of SDK {row.sdk} is made for "
        f"{', '.join(sorted(row.accelerators))}; {instance_type.name} has {instance_type.accelerator}",
        remedy="Choose an image that `ultracluster docs images` lists for these chips",
        path="image",
    )


# The version of the SDK in the tag of an AWS image, and of copies that keep the name.
_SDK_IN_TAG: Final = re.compile(r":[^/]*sdk([0-9]+)\.([0-9]+)")
_SDK_WITH_KNOWN_DEFAULTS: Final = (2, 32)


def check_integer_defaults(image: str, flags: str) -> list[Finding]:
    """Warn about an image with an SDK whose compiler may treat integers in another way than 2.32 (UC6051).

    Args:
        image: Reference of the image. One whose tag names no SDK is not judged.
        flags: All compiler flags of the job.
    """
    sdk = _SDK_IN_TAG.search(image)
    if sdk is None or (int(sdk[1]), int(sdk[2])) <= _SDK_WITH_KNOWN_DEFAULTS:
        return []
    pinned = {flag.name for flag in split_compiler_flags(flags)}
    left = {name: values for name, values in INTEGER_DEFAULTS.items() if name not in pinned}
    old = " ".join(f"{name}={value}" for name, (value, _) in left.items())
    new = " ".join(f"{name}={value}" for name, (_, value) in left.items())
    return require(
        not left,
        "UC6051",
        f"SDK {sdk[1]}.{sdk[2]} may compile with {new}, which 2.32 announced; 2.32 has {old}",
        remedy="Pin the values in `compiler_flags`: the old ones keep a program of 2.32 as it is",
        path="image",
    )


def container_uri(container: NeuronContainer, registry: str = PUBLIC_GALLERY) -> str:
    """Return the reference of an AWS Neuron image.

    Args:
        container: Row of `NEURON_CONTAINERS`.
        registry: Registry and prefix of a copy under the same repository and tag. Default: the public gallery.

    Raises:
        FindingsError: UC6332 if the tag is not known.
    """
    try:
        return container.uri(registry)
    except LookupError:
        raise FindingsError.of(
            "UC6332",
            f"the catalogue has no source for the tag of {container.repository} with SDK {container.sdk}",
            remedy=f"Look it up in the gallery (https://gallery.{PUBLIC_GALLERY.replace('public.', '')}) "
            "and pass the full image reference",
        ) from None


_SHELLS: Final = frozenset({"ash", "bash", "dash", "ksh", "sh", "zsh"})
_INTERPRETERS: Final = re.compile(r"(?:python|perl|ruby|node|java)[0-9.]*")
# Programs that interpret their arguments themselves and start no other program.
_PROGRAMS: Final = frozenset(
    {"accelerate", "deepspeed", "jupyter", "jupyter-lab", "nginx", "torchrun", "tritonserver", "vllm"}
)
# These wait forever after the command has ended: aws-neuron/deep-learning-containers, common/neuron-entrypoint.py, and
# aws/deep-learning-containers, 2026-08.
_WAITS: Final = frozenset({"dockerd-entrypoint.py", "neuron-entrypoint.py"})


def explain_entrypoint(entrypoint: Sequence[str]) -> str:  # noqa: PLR0911 - one for each way to fail
    """Return why an ENTRYPOINT does not run the command that follows it; empty if it may."""
    names = [word.rpartition("/")[2] for word in entrypoint]
    if not names:
        return ""
    if waiting := _WAITS.intersection(names):
        return f"waits in {min(waiting)} after the command has ended, at the price of the nodes"
    first, options = names[0], list(itertools.takewhile(lambda word: word.startswith("-"), entrypoint[1:]))
    rest = entrypoint[1 + len(options) :]
    if first in _PROGRAMS:
        return f"gives the command to {first}, which does not run it"
    if first not in _SHELLS:
        alone = _INTERPRETERS.fullmatch(first) and not rest and "-m" not in options
        return f"gives the command to {first}, which takes its first word for a script" if alone else ""
    if not any(option.lstrip("-").endswith("c") and not option.startswith("--") for option in options):
        return "" if rest else f"gives the command to {first}, which takes its first word for a script"
    if not rest:
        return f"gives {first} the first word of the command only"
    if not re.search(r"\$[@*]|\$\{[@*]\}", rest[0]):
        return f"runs {rest[0]} and leaves the command out"
    return (
        "" if len(rest) > 1 else f"drops the first word of the command: {first} -c takes it for its own name"
    )


def _explain_image_id(value: str) -> str:
    if value in {"latest", "recommended"} or value.startswith(("/aws/", "resolve:")):
        return "Pin the AMI: one that changes replaces all nodes at any deployment"
    return "Pin the AMI by its ID; `ultracluster ami resolve` finds it"


AMI: Final = Form(
    code="UC4110",
    pattern=IMAGE_ID,
    allowed="ami- and 17 hexadecimal digits in lower case, such as ami-0123456789abcdef0",
    explain=_explain_image_id,
)
"""An AMI is pinned by its ID."""


def check_neuron_image(image: NeuronImage) -> list[Finding]:
    """Check the line (UC4050) and the ID (UC4110) of an AMI."""
    return [
        *check_image_kind(image.kind, IMAGE_KINDS, path="kind"),
        *AMI.check(image.image_id, path="image_id"),
    ]


def check_image_kind(kind: str, kinds: Collection[str], *, path: str) -> list[Finding]:
    """Check whether a line of AMIs is known (UC4050)."""
    return require(kind in kinds, "UC4050", f"got {quote(kind)}", allowed=", ".join(kinds), path=path)


RECORDS: Final = (
    RuleRecord(
        "UC4050",
        "The family of an AMI is one that the catalogue knows.",
        remedy="Use a family that the finding lists; `--baked NAME` finds an AMI of your own.",
        source="SSM public parameters: ECS guide, 2026-10, and Neuron 2.32 documentation, 2026-08.",
    ),
    RuleRecord(
        "UC4110",
        "An AMI is specified by its ID.",
        remedy="Pin the AMI by its ID; `ultracluster ami resolve ROLLOUT --write` finds and writes it.",
        source="Our decision: an AMI that moves replaces the whole fleet at any deployment.",
        example="image_id: ami-0123456789abcdef0",
        in_templates=True,
    ),
    RuleRecord(
        "UC6051",
        "A job on an SDK after 2.32 states how the compiler treats integers.",
        severity=Severity.WARNING,
        remedy="Set `neuron: {compiler_flags: [--native-int64=disabled, --implicit-integer-downcast=all]}` to keep the behaviour of 2.32, or `enabled` and `none` to have unsupported operations refused.",
        source="Neuron documentation, compiler release notes 2.32.0, 2026-08-17: the next release changes both defaults. Whether 2.33 did was not found in a readable source by 2026-11-27.",
        suppressible=True,
    ),
    RuleRecord(
        "UC6330",
        "A container image of AWS runs on the chips of its nodes.",
        severity=Severity.WARNING,
        remedy="Choose an image that `ultracluster docs images` lists for these chips; an older SDK has the last one for Trainium1.",
        source="Neuron documentation, release notes 2.33.0, 2026-10-19; aws-neuron/deep-learning-containers, 2026-08-17.",
        suppressible=True,
    ),
    RuleRecord(
        "UC6331",
        "A framework has a container image for the chips of an instance type.",
        remedy="Take a framework that the finding lists for these chips: Trainium1 stays on torch-neuronx.",
        source="Neuron documentation, release notes 2.33.0, 2026-10-19.",
        example='neuron_container("torchneuron", get_instance_type("trn2.48xlarge"))',
    ),
    RuleRecord(
        "UC6332",
        "A requested container image has a known tag.",
        remedy="Look the tag up in the gallery, and specify the full reference as the image of the job.",
        source="Our decision: a tag that no source names is not made up.",
        example='container_uri(neuron_container("jax", get_instance_type("trn2.48xlarge")))',
    ),
    RuleRecord(
        "UC6333",
        "A framework of container images is one that the catalogue knows.",
        remedy="Take a framework that the finding lists, or name an image of your own.",
        source="aws-neuron/deep-learning-containers, 2026-08-17.",
        example='neuron_container("jax", get_instance_type("trn2.48xlarge"))',
    ),
)
