"""`ultracluster capacity verify`: check that instances run in the reserved capacity."""

from typing import Annotated

import typer

from ultracluster_cli.options import JsonOption, ProfileOption
from ultracluster_cli.output import echo, print_json, print_table, short_time
from ultracluster_runtime.aws.aws_session import clients_of
from ultracluster_runtime.purchasing.ec2_objects import Reservation
from ultracluster_runtime.purchasing.ec2_reads import read_all
from ultracluster_runtime.purchasing.effects import DescribeReservations
from ultracluster_runtime.purchasing.verify import check_consumption, read_instances
from ultracluster_spec.findings import FindingsError


def verify(
    reservation: Annotated[
        list[str], typer.Argument(metavar="RESERVATION...", help="Reservation IDs: cr-….")
    ],
    *,
    region: Annotated[str, typer.Option(help="Region of the reservations.")],
    tag: Annotated[
        list[str] | None,
        typer.Option(
            "--tag", help="Check only instances with this tag, as KEY=VALUE. Default: all of the same type."
        ),
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Verify that instances run in the reserved capacity.

    Exits with code 2 if instances run elsewhere or none run. A reservation that has not started is listed but not checked.
    """
    clients = clients_of(profile)
    reservations: list[Reservation] = read_all(
        clients,
        lambda page: DescribeReservations(region=region, page=page),
        "the Capacity Reservations",
    )
    selected = [item for item in reservations if item.reservation_id in reservation]
    missing = sorted(set(reservation) - {item.reservation_id for item in selected})
    if missing:
        problem = f"{', '.join(missing)} not found in {region}"
        raise FindingsError.message(problem, allowed="reservations of this account")
    scheduled = [item for item in selected if item.state == "scheduled"]
    for item in scheduled:
        start = short_time(item.start) if item.start else "later"
        echo(f"{item.reservation_id} is scheduled: it starts {start}, and nothing can run in it before.")
    if not (selected := [item for item in selected if item not in scheduled]):
        if as_json:
            print_json(reserved=0, inside=0, outside=0, findings=[])
        return
    filters = [{"Name": "instance-type", "Values": sorted({item.instance_type for item in selected})}]
    for text in tag or ():
        key, _, value = text.partition("=")
        filters.append({"Name": f"tag:{key}", "Values": [value]})
    report = check_consumption(
        read_instances(clients("ec2", region), filters=filters),
        reserved={item.reservation_id: item.instance_count for item in selected},
        is_block=all(item.reservation_type == "capacity-block" for item in selected),
    )
    row = {"reserved": report.reserved, "inside": report.inside, "outside": report.outside}
    if as_json:
        print_json(**row, findings=report.findings)
    else:
        print_table([row])
    if report.findings:
        raise FindingsError(report.findings)
