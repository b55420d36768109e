"""Deletions that EC2 refuses while something is in use.

The code is that of https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html (DependencyViolation), the
messages are those that were published in issues of aws/aws-cdk (14456) and hashicorp/terraform-provider-aws.
"""

from ultracluster_local.services.checks import Checks
from ultracluster_local.services.ec2.errors import invalid_value
from ultracluster_local.services.ec2.networks import (
    backend_of,
    endpoints,
    instances,
    interfaces,
    members_of,
    nat_gateways,
    users_of_groups,
)
from ultracluster_local.services.handlers import Request, ServiceError

__all__: list[str] = []

_check = Checks(service="ec2")


def _in_use(message: str) -> ServiceError:
    return ServiceError("DependencyViolation", message)


@_check("DeleteSecurityGroup")
def delete_security_group(request: Request) -> None:
    """Refuse a default group, and one that interfaces or other groups' rules use."""
    group_id, name = request.parameters.get("GroupId"), request.parameters.get("GroupName")
    backend = backend_of(request.region)
    group = backend.get_security_group_by_name_or_id(group_id or name)
    if group is None:
        return
    if group.is_default:
        raise ServiceError(
            "CannotDelete",
            f'the specified group: "{group.id}" name: "{group.name}" cannot be deleted by a user',
        )
    used = any(group.id in groups for _, groups in users_of_groups(request.region))
    others = [one for one in backend.groups[group.vpc_id].values() if one.id != group.id]
    rules = [rule for one in others for rule in (*one.ingress_rules, *one.egress_rules)]
    referred = any(rule.source_group.get("GroupId") == group.id for rule in rules)
    if used or referred:
        raise _in_use(f"resource {group.id} has a dependent object")


@_check("DeleteSubnet")
def delete_subnet(request: Request) -> None:
    """Refuse a subnet with interfaces, instances, endpoints or NAT gateways."""
    subnet_id = request.parameters["SubnetId"]
    used = (
        any(one.subnet.id == subnet_id for one in interfaces(request.region))
        or any(one.subnet_id == subnet_id for one in instances(request.region))
        or any(subnet_id in (one.subnet_ids or []) for one in endpoints(request.region))
        or any(one.subnet_id == subnet_id for one in nat_gateways(request.region))
    )
    if used:
        raise _in_use(f"The subnet '{subnet_id}' has dependencies and cannot be deleted.")


@_check("DeleteVpc")
def delete_vpc(request: Request) -> None:
    """Refuse a VPC with a gateway, an endpoint or a non-default group."""
    vpc_id, backend = request.parameters["VpcId"], backend_of(request.region)
    used = (
        any(one.vpc and one.vpc.id == vpc_id for one in backend.internet_gateways.values())
        or any(one.vpc_id == vpc_id for one in endpoints(request.region))
        or any(not one.is_default for one in backend.groups[vpc_id].values())
    )
    if used:
        raise _in_use(f"The vpc '{vpc_id}' has dependencies and cannot be deleted.")


@_check("DeleteRoute", "DeleteRouteTable", "DisassociateRouteTable")
def check_route_table(request: Request) -> None:
    """Refuse to take away a main table (API_DeleteRouteTable), its place as such, and the local route of any.

    hashicorp/terraform-provider-aws, vpc_route.go; ansible/ansible#25521
    """
    given = request.parameters
    for table in backend_of(request.region).route_tables.values():
        if given.get("AssociationId") == table.main_association_id is not None:
            problem = f"cannot disassociate the main route table association {given['AssociationId']}"
            raise invalid_value(problem)
        if given.get("RouteTableId") != table.id:
            continue
        if request.operation == "DeleteRouteTable" and table.main_association_id:
            raise _in_use(f"The routeTable '{table.id}' has dependencies and cannot be deleted.")
        if given.get("DestinationCidrBlock") in {
            one.destination_cidr_block for one in table.routes if one.local
        }:
            raise invalid_value(
                f"cannot remove local route {given['DestinationCidrBlock']} in route table {table.id}"
            )


@_check("DetachInternetGateway")
def detach_internet_gateway(request: Request) -> None:
    """Refuse while public addresses are mapped into the VPC (ministryofjustice/bootstrap-cfn#177)."""
    vpc_id = request.parameters["VpcId"]
    mapped = any(
        one.vpc_id == vpc_id and one.connectivity_type != "private" for one in nat_gateways(request.region)
    ) or any(one.subnet.vpc_id == vpc_id and one.public_ip for one in interfaces(request.region))
    if mapped:
        raise _in_use(
            f"Network {vpc_id} has some mapped public address(es). Please unmap those public address(es) before detaching "
            "the gateway."
        )


@_check("ReleaseAddress")
def release_address(request: Request) -> None:
    """Refuse an address that an interface of an instance or a NAT gateway uses."""
    wanted = {request.parameters.get("AllocationId"), request.parameters.get("PublicIp")} - {None}
    used = interfaces(request.region)
    for address in backend_of(request.region).addresses:
        if address.eni in used and wanted & {address.allocation_id, address.public_ip}:
            raise ServiceError("InvalidIPAddress.InUse", f"Address {address.public_ip} is in use.")


@_check("DeletePlacementGroup")
def delete_placement_group(request: Request) -> None:
    """Refuse a group with instances (scylladb/scylla-cluster-tests#6742, 2023-10-31)."""
    name = request.parameters["GroupName"]
    if any(members_of(request.region, name)):
        problem = f"The placement group '{name}' is in use and may not be deleted."
        raise ServiceError("InvalidPlacementGroup.InUse", problem)


@_check("DeleteNetworkInterface")
def delete_network_interface(request: Request) -> None:
    """Refuse an interface that an instance has."""
    interface = request.parameters["NetworkInterfaceId"]
    for instance in instances(request.region):
        if any(one.id == interface for one in instance.nics.values()):
            raise invalid_value(f"Network interface '{interface}' is currently in use.")
