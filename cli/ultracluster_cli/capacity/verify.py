"""`ultracluster capacity verify`: reading the reservations and the instances, and saying what does not fit."""

from collections.abc import Sequence

from ultracluster_cli.output import print_json, print_table
from ultracluster_rules.findings import Finding, FindingsError
from ultracluster_runtime.purchasing.ec2_driver import session_clients
from ultracluster_runtime.purchasing.ec2_objects import Reservation
from ultracluster_runtime.purchasing.ec2_reads import Ec2Reads
from ultracluster_runtime.purchasing.effects import DescribeReservations, perform_all
from ultracluster_runtime.purchasing.pagination import iterate_pages
from ultracluster_runtime.purchasing.verify import Consumption, check_consumption, read_instances

__all__ = ["prove", "show_proof"]


def prove(ids: Sequence[str], *, region: str, tags: Sequence[str], profile: str | None) -> Consumption:
    """Judge whether the instances that should run in some reservations do.

    Args:
        ids: The reservations.
        region: Their Region.
        tags: ``key=value`` that the instances carry. Empty: all instances of the reservations' types.
        profile: The profile of the shared configuration. None for boto3's own choice.

    Raises:
        FindingsError: If a reservation is not there (UC7015) or EC2 does not answer (UC7035).
    """
    reads = Ec2Reads(session_clients(profile))
    listed: list[Reservation] = perform_all(
        iterate_pages(
            lambda page: DescribeReservations(region=region, page=page), "the Capacity Reservations"
        ),
        lambda effect: reads.perform(effect) if isinstance(effect, DescribeReservations) else None,
    )
    ours = [item for item in listed if item.reservation_id in ids]
    missing = sorted(set(ids) - {item.reservation_id for item in ours})
    if missing:
        raise FindingsError(
            [
                Finding(
                    code="UC7015",
                    problem=f"{', '.join(missing)} is not in {region}",
                    allowed="reservations of this account",
                )
            ]
        )
    filters = [{"Name": "instance-type", "Values": sorted({item.instance_type for item in ours})}]
    for tag in tags:
        key, _, value = tag.partition("=")
        filters.append({"Name": f"tag:{key}", "Values": [value]})
    return check_consumption(
        read_instances(reads.client(region), filters=filters),
        reserved={item.reservation_id: item.instance_count for item in ours},
        is_block=all(item.reservation_type == "capacity-block" for item in ours),
    )


def show_proof(proof: Consumption, *, as_json: bool) -> None:
    """Print the proof.

    Raises:
        FindingsError: If an instance runs elsewhere, or none runs.
    """
    row = {"reserved": proof.reserved, "inside": proof.inside, "outside": proof.outside}
    if as_json:
        print_json({**row, "findings": [str(finding) for finding in proof.findings]})
    else:
        print_table(columns=list(row), rows=[row])
    if proof.findings:
        raise FindingsError(proof.findings)
