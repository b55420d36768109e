"""The dimensions of the grid as data: each value is a part of a cluster in the rollout file.

A new value is one line. What cannot stand together is in `REFUSED`, each with the code that the rollout file is refused with;
a test shows that it is.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tests.grid.pairs import Row, rows

from ultracluster_catalog.places.zones import region_of_zone_id
from ultracluster_rules.machines import get_instance_type

__all__ = ["DIMENSIONS", "REFUSED", "ROWS", "cluster", "name_of"]

_OWN = {
    "vcpus": 256,
    "memory_gib": 4096,
    "accelerator": "Trainium9",
    "chips": 16,
    "device_memory_gib": 144,
    "cores_per_chip": 8,
    "logical_nc_config": 2,
    "network_cards": 16,
    "interfaces_per_card": 2,
    "gbps_per_card": 400,
    "ipv4_per_interface": 50,
    "nvme_disks": 4,
    "nvme_gb": 1900,
    "purchase_options": ["on-demand", "capacity-block"],
    "nitro_generation": 6,
    "source": "made up for this test",
    "dated": "2026-11-20",
}


def _machine(name: str, zone_id: str) -> dict[str, Any]:
    return {"instance_type": name, "zone_id": zone_id, "region": region_of_zone_id(zone_id)}


# Few Regions, because what is alike in one Region is judged once.
_MACHINES: dict[str, dict[str, Any]] = {
    "trn1.2xlarge": _machine("trn1.2xlarge", "use2-az3"),
    "trn1.32xlarge": _machine("trn1.32xlarge", "use2-az3"),
    "trn1n.32xlarge": _machine("trn1n.32xlarge", "use2-az3"),
    "trn2.3xlarge": _machine("trn2.3xlarge", "sae1-az1"),
    "trn2.48xlarge": _machine("trn2.48xlarge", "use2-az3"),
    "trn2u.48xlarge": _machine("trn2u.48xlarge", "use2-az2"),
    "inf2.48xlarge": _machine("inf2.48xlarge", "use2-az1"),
    "p4d.24xlarge": _machine("p4d.24xlarge", "use2-az1"),
    "p5.48xlarge": _machine("p5.48xlarge", "use2-az1"),
    "p5e.48xlarge": _machine("p5e.48xlarge", "use2-az1"),
    "p5en.48xlarge": _machine("p5en.48xlarge", "use2-az1"),
    "p6-b300.48xlarge": _machine("p6-b300.48xlarge", "sae1-az2"),
    "a type of one's own": _machine("trn9.48xlarge", "use2-az3") | {"custom_instance_type": _OWN},
}

_BLOCK = {"market_type": "capacity-block", "reservation_id": "RESERVATION"}

DIMENSIONS: dict[str, dict[str, dict[str, Any]]] = {
    "machine": _MACHINES,
    "capacity": {
        "block": {"capacity": _BLOCK | {"start": "2026-12-01T12:00:00Z", "end": "2026-12-15T11:30:00Z"}},
        "reservation, then on-demand": {
            "capacity": {"market_type": "on-demand", "reservation_id": "RESERVATION"},
            "additional_capacity": [{"name": "overflow", "market_type": "on-demand", "max_nodes": 1}],
        },
        "a group of reservations, and Spot for small jobs": {
            "capacity": {"market_type": "on-demand", "resource_group_arn": "RESERVATIONS"},
            "additional_capacity": [{"name": "spot", "market_type": "spot", "max_nodes": 2}],
            "queue": {"capacity": ["capacity"]},
            "additional_queues": [{"name": "small", "capacity": ["spot"]}],
        },
        "on-demand": {"capacity": {"market_type": "on-demand"}},
        "spot": {"capacity": {"market_type": "spot", "max_price_percent": 60}},
    },
    "launched by": {"batch": {}, "auto-scaling": {"capacity": {"launched_by": "auto-scaling"}}},
    "placement": {
        "auto": {},
        "none": {"network": {"placement": "none"}},
        "existing": {"network": {"placement": "PLACEMENT"}},
    },
    "nodes": {"1": {"nodes": 1}, "4": {"nodes": 4}, "64": {"nodes": 64}},
    "layout": {
        "batch": {},
        "ec2-guide": {"network": {"nic_layout": "ec2-guide"}},
        "all-efa": {"network": {"nic_layout": "all-efa"}},
        "one by one": {"network": {"network_interfaces": "INTERFACES"}},
    },
    "network": {
        "new": {},
        "narrow, with a way out": {
            "network": {"cidr": "172.31.248.0/21", "subnet_prefix": 22, "nat_gateway": True}
        },
        "existing": {"network": {"vpc_id": "VPC", "subnet_id": "SUBNET", "available_addresses": 4000}},
        "existing with a group": {
            "network": {
                "vpc_id": "VPC",
                "subnet_id": "SUBNET",
                "security_group_id": "GROUP",
                "add_efa_rules": True,
            }
        },
    },
    "file system": {
        "backed up": {
            "file_system": {
                "storage_capacity_gib": 4800,
                "metadata_iops": 12000,
                "data_compression": False,
                "link_checkpoints": False,
                "backup_retention_days": 7,
                "backup_start_time": "03:30",
            }
        },
        "over EFA": {
            "file_system": {
                "storage_capacity_gib": 9600,
                "per_unit_storage_throughput": 500,
                "metadata_iops": 6000,
                "efa": True,
            }
        },
        "scratch, with a folder of somebody's bucket": {
            "file_system": {
                "deployment_type": "SCRATCH_2",
                "storage_capacity_gib": 2400,
                "associations": [
                    {
                        "file_system_path": "/theirs",
                        "data_repository_path": "s3://their-corpus/c4/",
                        "import_events": [],
                        "export_events": [],
                    }
                ],
            }
        },
        "existing": {
            "file_system": {
                "file_system_id": "FILE_SYSTEM",
                "mount_name": "abcdefgh",
                "zone_id": "ZONE",
            }
        },
        "tiering": {
            "file_system": {
                "storage_type": "INTELLIGENT_TIERING",
                "throughput_capacity": 4000,
                "read_cache": "PROPORTIONAL_TO_THROUGHPUT_CAPACITY",
                "metadata_iops": 6000,
                "link_checkpoints": False,
            }
        },
    },
    "datasets": {"none": {}, "one": {"datasets": [{"name": "corpus"}]}},
    "compile cache": {
        "in S3": {},
        "expiring": {"compile_cache": {"expire_after_days": 90, "expire_compilers": {"2.19": 30}}},
        "on the file system": {"compile_cache": {"on_file_system": True}},
    },
    "queues": {
        "one": {},
        "with shares": {
            "queue": {"priority": 5, "shares": {"research": 3, "team*": 1}, "compute_reservation_percent": 10}
        },
        "two": {"additional_queues": [{"name": "urgent", "priority": 100, "capacity": ["capacity"]}]},
    },
    "scratch": {"none": {}, "on instance store": {"scratch_path": "/scratch"}},
    "jobs": {
        "none": {},
        "several": {
            "jobs": [
                {
                    "name": "pretrain",
                    "image": "IMAGE",
                    "command": ["train.py", "--steps", "1000"],
                    "environment": {"NEURON_RT_LOG_LEVEL": "INFO"},
                    "timeout_hours": 24,
                    "attempts": 3,
                },
                {"name": "evaluate", "image": "IMAGE", "command": ["eval.py"], "nodes": 1, "launcher": "raw"},
            ]
        },
        "on one node": {
            "jobs": [{"name": "tune", "kind": "single-node", "image": "IMAGE", "command": ["tune.py"]}]
        },
        "of every kind": {
            "jobs": [
                {"name": "warm", "kind": "precompile", "image": "IMAGE", "command": ["python3", "train.py"]},
                {
                    "name": "sweep",
                    "kind": "single-node",
                    "image": "IMAGE",
                    "command": ["tune.py"],
                    "array_size": 16,
                },
                {
                    "name": "pretrain",
                    "image": "IMAGE",
                    "command": ["train.py"],
                    "neuron": {"model_type": "transformer", "auto_cast": "matmult", "optlevel": 1},
                    "depends_on": ["warm"],
                    "gates": {"smoke": True},
                },
            ]
        },
        "jax": {
            "jobs": [
                {
                    "name": "pretrain",
                    "image": "IMAGE",
                    "command": ["t.py"],
                    "launcher": "jax",
                    "gates": {"fabric": True, "min_bandwidth": 10},
                }
            ]
        },
    },
    "tags": {"none": {}, "some": {"tags": {"team": "research", "cost centre": "4711"}}},
}
"""The values of each dimension by their names; words in capitals are filled in for each row."""


# Nitro v4 with EFA, and not Trainium2 (FSx for Lustre guide, EFA-enabled file systems).
_MOUNTS_OVER_EFA = {
    *("trn1.32xlarge", "trn1n.32xlarge", "p5.48xlarge", "p5e.48xlarge", "p5en.48xlarge", "p6-b300.48xlarge"),
    "a type of one's own",
}
_WITHOUT_EFA = {"trn1.2xlarge", "inf2.48xlarge"}
# NeuronCores, and a smaller type with the same chips in the zone.
_PRECOMPILES = {"trn1.32xlarge", "inf2.48xlarge"}


def _options(row: Row) -> set[str]:
    part = _MACHINES[row["machine"]]
    own = part.get("custom_instance_type")
    return set(own["purchase_options"] if own else get_instance_type(part["instance_type"]).purchase_options)


def _market(row: Row) -> str:
    return str(DIMENSIONS["capacity"][row["capacity"]]["capacity"]["market_type"])


def _markets(row: Row) -> set[str]:
    sources = DIMENSIONS["capacity"][row["capacity"]]
    return {each["market_type"] for each in (sources["capacity"], *sources.get("additional_capacity", ()))}


def _all_nodes_talk(row: Row) -> bool:
    return row["nodes"] != "1" and row["jobs"] in {"several", "jax", "of every kind"}


REFUSED: Mapping[tuple[str, ...], tuple[str, Callable[[Row], bool]]] = {
    ("machine", "capacity"): ("UC4104", lambda row: not _markets(row) <= _options(row)),
    ("machine", "capacity", "nodes"): (
        "UC4105",
        lambda row: (
            row["machine"] == "trn2u.48xlarge" and _market(row) == "capacity-block" and row["nodes"] == "64"
        ),
    ),
    ("machine", "nodes", "jobs"): (
        "UC6102",
        lambda row: row["machine"] in _WITHOUT_EFA and _all_nodes_talk(row),
    ),
    ("machine", "scratch"): (
        "UC4026",
        lambda row: row["machine"] == "inf2.48xlarge" and row["scratch"] != "none",
    ),
    ("machine", "file system"): (
        "UC5027",
        lambda row: row["file system"] == "over EFA" and row["machine"] not in _MOUNTS_OVER_EFA,
    ),
    ("machine", "jobs"): (
        "UC6116|UC6011|UC6150",
        lambda row: (
            (row["jobs"] == "of every kind" and row["machine"] not in _PRECOMPILES)
            or (row["jobs"] == "jax" and row["machine"] in _WITHOUT_EFA)
        ),
    ),
    ("capacity", "jobs"): (
        "UC6308",
        lambda row: row["capacity"] == "spot" and row["jobs"] not in {"none", "on one node"},
    ),
    ("capacity", "launched by"): (
        "UC4126",
        lambda row: row["capacity"] == "spot" and row["launched by"] == "auto-scaling",
    ),
    ("capacity", "launched by", "jobs"): (
        "UC6309",
        lambda row: (
            row["capacity"] == "reservation, then on-demand"
            and row["launched by"] == "auto-scaling"
            and row["jobs"] not in {"none", "on one node"}
        ),
    ),
    ("capacity", "placement"): (
        "UC4020",
        lambda row: _market(row) == "capacity-block" and row["placement"] == "existing",
    ),
    ("machine", "nodes", "layout", "network"): (
        "UC3105",
        # 1,024 addresses, of which 142 are for AWS, endpoints and the file system: 16 and a task for each node are 1,088.
        lambda row: (
            row["network"] == "narrow, with a way out"
            and row["layout"] in {"all-efa", "one by one"}
            and row["nodes"] == "64"
            and len(_cards(row["machine"])) >= 16
        ),
    ),
}
"""What cannot stand together: the dimensions that say so, the code that it is refused with, and when."""


def _cards(machine: str) -> list[tuple[int, bool]]:
    """Network cards with EFA and without, in order."""
    part = _MACHINES[machine]
    if "custom_instance_type" in part:
        return [(card, True) for card in range(_OWN["network_cards"])]  # type: ignore[call-overload]
    return [(card.index, card.efa) for card in get_instance_type(part["instance_type"]).network_cards]


def _refuses(row: Row) -> bool:
    return any(set(names) <= row.keys() and refused(row) for names, (_code, refused) in REFUSED.items())


ROWS: list[Row] = rows({name: list(values) for name, values in DIMENSIONS.items()}, _refuses)


def name_of(row: Row) -> str:
    """Name of the cluster of a row."""
    return f"g{ROWS.index(row):03d}"


def cluster(row: Row, **filled: str) -> dict[str, Any]:
    """A row as a cluster of the rollout file.

    Args:
        row: A value for each dimension.
        **filled: What stands for the words in capitals.
    """
    merged: dict[str, Any] = {"name": "grid"}
    for name, value in row.items():
        _merge(merged, DIMENSIONS[name][value])
    if row["queues"] == "two" and merged.get("jobs"):
        merged["jobs"] = [*merged["jobs"][:-1], merged["jobs"][-1] | {"queue": "urgent"}]
    # On each card one interface, in an order that no named layout has.
    interfaces = [
        {"card": card, "interface_type": "efa" if efa else "interface"}
        for card, efa in _cards(row["machine"])
    ]
    return _fill(merged, filled | {"INTERFACES": interfaces[::-1], "ZONE": merged["zone_id"]})  # type: ignore[no-any-return]


def _merge(into: dict[str, Any], part: Mapping[str, Any]) -> None:
    for key, value in part.items():
        if isinstance(value, Mapping) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        elif isinstance(value, list) and key in into:
            into[key] = into[key] + value
        else:
            into[key] = dict(value) if isinstance(value, Mapping) else value


def _fill(value: Any, filled: Mapping[str, Any]) -> Any:
    if isinstance(value, Mapping):
        return {key: _fill(each, filled) for key, each in value.items()}
    if isinstance(value, list):
        return [_fill(each, filled) for each in value]
    return filled.get(value, value) if isinstance(value, str) else value
