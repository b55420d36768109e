"""The instance type of a cluster: of the catalogue, or described by `custom_instance_type`; its disks and UltraServers."""

import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Final, Literal

from ultracluster_catalog.machines.instance_type import (
    CAPACITY_BLOCK,
    ON_DEMAND,
    SPOT,
    InstanceType,
    describe_instance_type,
    network_cards,
)
from ultracluster_catalog.machines.instance_types import (
    ANNOUNCED_CHIPS,
    CHIP_CORES,
    INSTANCE_TYPES,
    announced_chip,
)
from ultracluster_catalog.neuron.compile_machines import CPU, CPU_HOST
from ultracluster_catalog.places.zones import offered_zones
from ultracluster_spec.arguments import find_wrong_fields
from ultracluster_spec.bounds import Between, Bound, Form, Known, NotEmpty
from ultracluster_spec.did_you_mean import suggestion
from ultracluster_spec.findings import Finding, Severity, quote, reject, require
from ultracluster_spec.record import RuleRecord
from ultracluster_spec.values import Value, fields_of

_NAME: Final = r"[a-z][a-z0-9-]*\.[a-z0-9-]+"


_SCRATCH_PATH: Final = r"(?:/[A-Za-z0-9._-]+)+"


# A mount would hide what the operating system keeps here.
_SYSTEM_PATHS: Final = (
    *("/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/opt", "/proc", "/root", "/run", "/sbin"),
    *("/sys", "/tmp", "/usr", "/var"),  # noqa: S108 - refused, not used
)


_MOUNT_PARENTS: Final = ("/mnt", "/media", "/srv")


_ULTRASERVER_PARTS: Final = (1, 2, 4)


_TYPO: Final = 0.85  # suggests corrections of typos only, not p5.4xlarge for g5.xlarge


def _explain(name: str) -> str:
    """Return the name that is meant, or what is known of a chip that EC2 does not sell by a name yet."""
    chip = announced_chip(name)
    if chip is None:
        return suggestion(name.removeprefix("ml."), INSTANCE_TYPES, similarity=_TYPO)
    return (
        f"{chip.name} is sold by agreement: EC2 had published no {chip.prefix} type by {chip.asked}. Known are "
        f"{chip.cores_per_chip} NeuronCores and {chip.device_memory_gib} GiB per chip, and UltraServers of "
        f"{' and '.join(map(str, chip.ultraservers))} servers ({chip.dated}). With an agreement, describe your type from "
        f"`aws ec2 describe-instance-types` in custom_instance_type, with accelerator: {chip.name}"
    )


INSTANCE_TYPE: Final = Known(code="UC4001", names=tuple(INSTANCE_TYPES), explain=_explain)
"""An instance type is one of the catalogue."""

COMPILE_TYPE: Final = Known(code="UC4001", names=(CPU, *INSTANCE_TYPES), explain=INSTANCE_TYPE.explain)
"""The type of a node that compiles is one of the catalogue, or a host without Neuron devices."""

_CONTRADICTION: Final = "UC4025"

COUNT: Final = Between(code=_CONTRADICTION, least=1, most=1_000_000)
"""A figure of a custom description that is never 0."""

OPTIONAL_COUNT: Final = Between(code=_CONTRADICTION, least=0, most=1_000_000)
"""A figure of a custom description that may be 0."""

LOGICAL_CORES: Final = Between(code=_CONTRADICTION, least=1, most=8)
"""NeuronCores of a logical one in a custom description."""

NETWORK_CARDS: Final = Between(code=_CONTRADICTION, least=1, most=64)
"""Network cards, and interfaces of each, in a custom description."""

DATED: Final = Form(
    code=_CONTRADICTION,
    pattern="[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9])",
    allowed='a date in quotes, such as "2026-11-20"',
)
"""The day of the source of a custom description."""


def check_offered(name: str, zone_id: str) -> list[Finding]:
    """Warn about a type that EC2 did not list in a zone when the catalogue was made (UC4106)."""
    zones = offered_zones(name)
    return require(
        zone_id in zones,
        "UC4106",
        f"{name} is not known to be offered in {zone_id}",
        remedy=f"Known zones: {', '.join(zones) or 'none'}",
    )


def get_instance_type(instance_type: str | InstanceType) -> InstanceType:
    """Look up an instance type by name, or validate a custom description.

    Args:
        instance_type: API name, such as ``trn2.48xlarge``, or the result of `describe_instance_type` for a type that
            the catalogue does not know or whose figures you know better.

    Raises:
        FindingsError: UC4001 if the catalogue has no such type. UC1030 or UC4025 if a custom description holds unsafe
            numbers or contradicts itself.
    """
    if instance_type == CPU_HOST:
        return CPU_HOST
    if isinstance(instance_type, InstanceType):
        reject(check_instance_type(instance_type))
        return instance_type
    reject(INSTANCE_TYPE.check(instance_type))
    return INSTANCE_TYPES[instance_type]


def check_instance_type(instance_type: InstanceType) -> list[Finding]:
    """Check the description of an instance type for unsafe numbers (UC1030), or else contradictions (UC4025)."""
    cards, options = instance_type.network_cards, instance_type.purchase_options
    chip = ANNOUNCED_CHIPS.get(instance_type.accelerator)
    unsafe = find_wrong_fields(instance_type)
    if not any(finding.path == "network_cards" for finding in unsafe):
        unsafe = [*(finding for card in cards for finding in find_wrong_fields(card)), *unsafe]
    if unsafe:
        return unsafe
    contradictions = {
        f"the name {quote(instance_type.name)}": not re.fullmatch(_NAME, instance_type.name),
        "vcpus, memory_mib or chips below 1": min(
            instance_type.vcpus, instance_type.memory_mib, instance_type.chips
        )
        < 1,
        "more memory for a container than the instance has": instance_type.container_memory_mib
        > instance_type.memory_mib,
        "network cards that are not numbered from 0": not cards
        or [card.index for card in cards] != list(range(len(cards))),
        "a network card without a slot": any(card.max_interfaces < 1 for card in cards),
        "efa_interfaces that differs from the number of cards with EFA": instance_type.efa_interfaces
        != sum(card.efa for card in cards),
        f"purchase_options {quote(sorted(options))}": not options
        or not options <= {ON_DEMAND, SPOT, CAPACITY_BLOCK},
        "more logical NeuronCores than NeuronCores": instance_type.logical_neuron_cores
        > instance_type.neuron_cores,
        "instances_per_ultraserver below 1": instance_type.instances_per_ultraserver < 1,
        f"an UltraServer of {instance_type.instances_per_ultraserver} {instance_type.accelerator} servers": bool(
            chip
            and instance_type.in_ultraserver
            and instance_type.instances_per_ultraserver not in chip.ultraservers
        ),
    }
    return [
        Finding(
            _CONTRADICTION,
            f"got {contradiction}",
            remedy="Take the figures from `aws ec2 describe-instance-types`, and build the entry with describe_instance_type",
            path="instance_type",
        )
        for contradiction, holds in contradictions.items()
        if holds
    ]


def check_figures_are_sourced(instance_type: InstanceType) -> list[Finding]:
    """Warn about a custom description, for whose figures the catalogue has no source (UC4024)."""
    return require(
        instance_type in (CPU_HOST, INSTANCE_TYPES.get(instance_type.name)),
        "UC4024",
        f"{instance_type.name} is a custom description ({instance_type.source}, {instance_type.dated}); "
        "wrong devices, addresses or memory show only when paid nodes fail to join",
        remedy="Compare it with `aws ec2 describe-instance-types` before you buy capacity",
    )


def check_scratch(
    instance_type: InstanceType, path: str | None, *, mount_path: str | None = None
) -> list[Finding]:
    """Check that a type has disks for scratch (UC4026), and that its path is valid and unused (UC4027)."""
    if path is None:
        return []
    findings = require(
        instance_type.nvme_count,
        "UC4026",
        f"{instance_type.name} has no instance-store disks",
        remedy="Leave scratch_path out, or choose a type with disks, such as trn1.32xlarge or trn2.48xlarge",
        path="scratch_path",
    )
    taken = [used for used in (*_SYSTEM_PATHS, mount_path) if used and _paths_overlap(path, used)]
    findings += require(
        re.fullmatch(_SCRATCH_PATH, path)
        and posixpath.normpath(path) == path
        and path not in _MOUNT_PARENTS
        and not taken,
        "UC4027",
        f"got {quote(path)}" + (f", which overlaps {taken[0]}" if taken else ""),
        allowed="an unused absolute path, such as /scratch",
        path="scratch_path",
    )
    return findings


def _paths_overlap(first: str, second: str) -> bool:
    return f"{first}/".startswith(f"{second}/") or f"{second}/".startswith(f"{first}/")


def check_job_ultraservers(instance_type: InstanceType, nodes: int) -> list[Finding]:
    """Check whether the nodes of a job can be joined across UltraServers (UC4028).

    Source: Neuron documentation, "How to schedule MPI jobs to run on Neuron UltraServer on EKS" (2.29 to 2.33, read
    November 2026), whose script joins groups of 1, 2 or 4 trn2u nodes and rejects others; its operator has the same sizes
    for Trn3.
    """
    whole = instance_type.instances_per_ultraserver
    return require(
        whole == 1 or nodes in _ULTRASERVER_PARTS or nodes % whole == 0,
        "UC4028",
        f"got {quote(nodes)} nodes of {instance_type.name}, which are joined as UltraServers of {whole}",
        allowed=f"1, 2, {'' if whole == _ULTRASERVER_PARTS[-1] else '4, '}or a multiple of {whole}",
        path="node_count",
    )


def check_whole_ultraservers(instance_type: InstanceType, nodes: int) -> list[Finding]:
    """Warn about a cluster that pays for instances of an UltraServer that it does not use (UC4029)."""
    whole = instance_type.instances_per_ultraserver
    return require(
        nodes % whole == 0,
        "UC4029",
        f"got {quote(nodes)} nodes of {instance_type.name}; an UltraServer has {whole} instances and "
        "is sold as a whole",
        allowed=f"a multiple of {whole}",
        path="node_count",
    )


class _DescribedType(Bound):
    """An instance type is in the catalogue, unless `custom_instance_type`, which is read before it, describes it."""

    @property
    def json_schema(self) -> dict[str, Any]:
        """A name of the catalogue, or one that looks like it."""
        return {"anyOf": [{"enum": list(INSTANCE_TYPES)}, {"pattern": f"^{_NAME}$"}]}

    def check(self, value: Any, *, path: str = "") -> list[Finding]:
        """Return a finding if the catalogue lacks the type."""
        return INSTANCE_TYPE.check(value, path=path)

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Ignore an unreadable description; there are no other fields if this one is read by itself."""

        def validate(value: Any, info: Any) -> Any:
            if (info.data or {}).get("custom_instance_type", "unread") is None:
                reject(self.check(value))
            return value

        function = {"type": "with-info", "function": validate}
        return {"type": "function-after", "function": function, "schema": handler(source)}


InstanceTypeName = Annotated[str, _DescribedType()]
"""Name of an instance type; the field must follow `custom_instance_type`."""

_Count = Annotated[int, COUNT]
_CountOrNone = Annotated[int, OPTIONAL_COUNT]
_CONVERTED = {
    "network_cards",
    "interfaces_per_card",
    "gbps_per_card",
    "efa",
    "nvme_disks",
    "nvme_gb",
    "dated",
    "cores_per_chip",
    "logical_nc_config",
    "instances_per_ultraserver",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class CustomInstanceType(Value):
    """Properties of an instance type, as shown by `aws ec2 describe-instance-types`."""

    vcpus: _Count
    """Number of vCPUs."""

    memory_gib: _Count
    """Memory in GiB."""

    accelerator: str
    """Accelerator name, such as Trainium2."""

    chips: _Count
    """Number of accelerators."""

    device_memory_gib: _Count
    """Memory of one accelerator in GiB."""

    cores_per_chip: _CountOrNone | None = None
    """NeuronCores per accelerator. Default: 8 of a Trainium2 or Trainium3, 2 of a Trainium or Inferentia2, else 0, a GPU."""

    logical_nc_config: Annotated[int, LOGICAL_CORES] | None = None
    """NeuronCores per logical NeuronCore by default. Default: 2 of a Trainium2 or Trainium3, else 1."""

    network_cards: Annotated[int, NETWORK_CARDS]
    """Number of network cards, all identical."""

    interfaces_per_card: Annotated[int, NETWORK_CARDS]
    """Maximum number of network interfaces per card."""

    gbps_per_card: _Count
    """Peak bandwidth of each card in Gbit/s."""

    efa: bool = True
    """Whether each card supports EFA. Default: yes."""

    ipv4_per_interface: _Count
    """Maximum number of IPv4 addresses per interface."""

    nvme_disks: _CountOrNone = 0
    """Number of instance-store disks. Default: 0."""

    nvme_gb: _CountOrNone = 0
    """Size of each instance-store disk in GB. Default: 0."""

    purchase_options: Annotated[
        tuple[Literal["on-demand", "spot", "capacity-block"], ...], NotEmpty(COUNT.code)
    ]
    """Purchase options of the type."""

    nitro_generation: _Count
    """Generation of the Nitro System."""

    instances_per_ultraserver: _Count = 1
    """Number of servers of the UltraServer that the type is part of; for Trainium3, 4 or 36. Default: 1, none."""

    source: str
    """Source of these properties."""

    dated: Annotated[str, DATED]
    """Date of the source, in quotes."""

    def entry(self, name: str) -> InstanceType:
        """Return the type as a catalogue entry."""
        cards = network_cards(
            self.network_cards, max_interfaces=self.interfaces_per_card, gbps=self.gbps_per_card, efa=self.efa
        )
        same: dict[str, Any] = {
            name: getattr(self, name) for name in fields_of(CustomInstanceType) if name not in _CONVERTED
        }
        cores, logical = CHIP_CORES.get(self.accelerator, (0, 1))
        return describe_instance_type(
            name,
            cards=cards,
            cores_per_chip=cores if self.cores_per_chip is None else self.cores_per_chip,
            logical_nc_config=logical if self.logical_nc_config is None else self.logical_nc_config,
            nvme=(self.nvme_disks, self.nvme_gb),
            ultraserver=(None, self.instances_per_ultraserver),
            dated=date.fromisoformat(self.dated),
            **same,
        )


RECORDS: Final = (
    RuleRecord(
        "UC4001",
        "An instance type is in the catalogue.",
        remedy="Use the nearest name that the finding suggests. For a type that the catalogue does not know yet, see `custom_instance_type`.",
        source="DescribeInstanceTypes as moto 5.2.5 ships it, about 2026-08; rows of ultracluster_catalog.machines.instance_types.",
        example="instance_type: trn2.48xlarge",
    ),
    RuleRecord(
        "UC4024",
        "The figures of an instance type equal those of the catalogue, which have a source.",
        severity=Severity.WARNING,
        remedy="Compare the figures with `aws ec2 describe-instance-types` before you buy capacity, then suppress this warning with your source.",
        source="Our decision: devices and memory that are wrong show only when paid nodes refuse to join.",
        example="instance_type: trn2.48xlarge",
        suppressible=True,
    ),
    RuleRecord(
        "UC4025",
        "The description of a custom instance type is consistent.",
        remedy="Take the figures from `aws ec2 describe-instance-types`; in Python, `describe_instance_type` builds a consistent entry.",
        source="Our decision: addresses, devices and memory of the templates are computed from these figures.",
        example="instance_type: trn2.48xlarge",
    ),
    RuleRecord(
        "UC4026",
        "Scratch storage is requested only for instance types with disks for it.",
        remedy="Leave `scratch_path` out, or choose a type with disks, such as trn1.32xlarge or trn2.48xlarge.",
        source="DescribeInstanceTypes as moto 5.2.5 ships it, about 2026-08: inf2 types have no instance store.",
        example="scratch_path: /scratch",
    ),
    RuleRecord(
        "UC4027",
        "Scratch storage has a separate path.",
        remedy="Use a separate absolute path such as /scratch, outside of the file system and the system directories.",
        source="Our decision: a mount over another one hides what is below it.",
        example="scratch_path: /scratch",
    ),
    RuleRecord(
        "UC4028",
        "A job on UltraServers has one node, two nodes, or whole UltraServers.",
        remedy="Use 1 or 2 nodes, or a multiple of 4: there is no NeuronLink between the chips of other groups.",
        source="Neuron documentation, UltraServer groups of 1, 2 or 4 trn2u nodes, 2026-10.",
    ),
    RuleRecord(
        "UC4029",
        "The nodes of a cluster are whole UltraServers.",
        severity=Severity.WARNING,
        remedy="Specify whole UltraServers: they are sold and billed as a whole, so the remaining nodes would be idle.",
        source="EC2 user guide, Capacity Blocks for UltraServers, 2026-10.",
        suppressible=True,
    ),
    RuleRecord(
        "UC4106",
        "An instance type is known to be offered in the zone.",
        severity=Severity.WARNING,
        remedy="Use a zone that the finding names, or suppress this when `aws ec2 describe-instance-type-offerings` shows the type in your zone.",
        source="DescribeInstanceTypeOfferings as moto 5.2.5 ships it, about 2026-08. A list can lack what is new, so this only warns.",
        suppressible=True,
    ),
)
