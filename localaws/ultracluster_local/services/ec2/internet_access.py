"""Constraints of networks, NAT gateways and routes to the internet.

The messages are those of issues of hashicorp/terraform-provider-aws; the rules are those of
https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-troubleshooting.html and API_CreateRoute.
"""

import ipaddress
from typing import Any

from moto.ec2.responses import EC2Response

from ultracluster_local.services.checks import Checks
from ultracluster_local.services.ec2.errors import invalid_combination, invalid_value
from ultracluster_local.services.ec2.networks import backend_of, interfaces, network_of, subnets
from ultracluster_local.services.handlers import Request, ServiceError
from ultracluster_local.services.replacing import instead_of

__all__: list[str] = []

_check = Checks(service="ec2")

_NETMASKS = (16, 28)
_RESERVED = (
    4  # addresses at the start of a subnet, and one at its end: VPC/latest/userguide/subnet-sizing.html
)
_MOST_GROUPS = 5  # the default quota


@_check("CreateNatGateway")
def create_nat_gateway(request: Request) -> None:
    """Refuse a public NAT gateway in a VPC without internet gateway, or without an address."""
    given = request.parameters
    public = given.get("ConnectivityType", "public") == "public"
    subnet = subnets(request.region).get(given["SubnetId"])
    if public and not given.get("AllocationId"):
        raise ServiceError(
            "MissingParameter",
            "The request must include the AllocationId parameter. Add the required parameter and retry the request.",
        )
    if not public and given.get("AllocationId"):
        raise invalid_combination("AllocationId cannot be specified for a private NAT gateway")
    gateways = backend_of(request.region).internet_gateways.values()
    if public and subnet and not any(one.vpc and one.vpc.id == subnet.vpc_id for one in gateways):
        raise ServiceError("Gateway.NotAttached", f"Network {subnet.vpc_id} has no Internet gateway attached")


@_check("CreateRoute", "ReplaceRoute")
def create_route(request: Request) -> None:
    """Refuse an internet gateway that is not attached to the VPC of the route table."""
    backend = backend_of(request.region)
    gateway = backend.internet_gateways.get(request.parameters.get("GatewayId") or "")
    table = backend.route_tables.get(request.parameters["RouteTableId"])
    if gateway and table and (gateway.vpc is None or gateway.vpc.id != table.vpc_id):
        raise invalid_value(
            f"route table {table.id} and network gateway {gateway.id} belong to different networks",
        )


@_check("CreateRoute", "DeleteNatGateway", "DescribeNatGateways", "ReplaceRoute")
def check_nat_gateway(request: Request) -> None:
    """Refuse a gateway that does not exist, with the codes of hashicorp/terraform-provider-aws, errors.go."""
    code = "InvalidNatGatewayID.NotFound" if request.operation.endswith("Route") else "NatGatewayNotFound"
    names = request.parameters.get("NatGatewayIds") or [request.parameters.get("NatGatewayId")]
    for one in filter(None, names):
        if one not in backend_of(request.region).nat_gateways:
            raise ServiceError(code, f"NatGateway {one} was not found")


@_check("AssociateAddress")
def check_associate_address(request: Request) -> None:
    """Refuse an address that another resource has (cloudfoundry/bosh, AWS CPI errors)."""
    given = request.parameters
    for one in backend_of(request.region).addresses if given.get("AllowReassociation") is False else ():
        if one.allocation_id == given.get("AllocationId") and one.association_id:
            problem = (
                f"resource {one.allocation_id} is already associated with associate-id {one.association_id}"
            )
            raise ServiceError("Resource.AlreadyAssociated", problem)


@_check("ModifyVpcAttribute")
def check_dns(request: Request) -> None:
    """Refuse DNS host names without DNS support: API_ModifyVpcAttribute."""
    vpc = backend_of(request.region).vpcs.get(request.parameters["VpcId"])
    wanted = (request.parameters.get("EnableDnsHostnames") or {}).get("Value")
    if vpc and wanted and "true" not in str(vpc.enable_dns_support).lower():
        raise invalid_combination("DNS hostnames can be enabled only if DNS support is enabled")


@_check("AttachInternetGateway")
def check_attach_internet_gateway(request: Request) -> None:
    """Refuse a gateway that a VPC has."""
    gateway = backend_of(request.region).internet_gateways.get(request.parameters["InternetGatewayId"])
    if gateway is not None and gateway.vpc is not None:
        problem = f"resource {gateway.id} is already attached to network {gateway.vpc.id}"
        raise ServiceError("Resource.AlreadyAssociated", problem)
    vpc = request.parameters["VpcId"]
    if any(one.vpc and one.vpc.id == vpc for one in backend_of(request.region).internet_gateways.values()):
        raise invalid_value(f"Network {vpc} already has an internet gateway attached")


@instead_of(EC2Response, "create_network_interface")
def _of_type(original: Any, response: Any) -> Any:
    """Keep the type of the interface, which moto drops."""
    answer = original(response)
    created = answer.result["NetworkInterface"]
    created.interface_type = response.params.get("InterfaceType") or created.interface_type
    return answer


@_check("CreateNetworkInterface")
def create_network_interface(request: Request) -> None:
    """Refuse an address that the subnet does not have, AWS keeps or another interface has, and too many groups.

    JamesWoolfenden/terraform-aws-cassandra#18; https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html
    """
    given = request.parameters
    subnet = subnets(request.region).get(given["SubnetId"])
    listed = [
        one["PrivateIpAddress"]
        for one in given.get("PrivateIpAddresses") or []
        if one.get("PrivateIpAddress")
    ]
    for address in [given["PrivateIpAddress"]] if given.get("PrivateIpAddress") else listed:
        network = ipaddress.ip_network(subnet.cidr_block) if subnet else None
        place = int(ipaddress.ip_address(address)) - int(network.network_address) if network else 0
        if network and not 0 <= place < network.num_addresses:
            problem = f"Address {address} does not fall within the subnet's address range"
            raise invalid_value(problem)
        if network and not _RESERVED <= place < network.num_addresses - 1:
            raise invalid_value(f"Address {address} is in subnet's reserved address range")
        if any(
            one.subnet.id == given["SubnetId"] and address == one.private_ip_address
            for one in interfaces(request.region)
        ):
            raise ServiceError("InvalidIPAddress.InUse", f"Address {address} is in use.")
    for one in given.get("Groups") or []:
        if network_of(request.region, one) is None:  # eks/latest/userguide, cni-custom-network
            problem = f"The securityGroup ID '{one}' does not exist"
            raise ServiceError("InvalidSecurityGroupID.NotFound", problem)
    if len({*(given.get("Groups") or [])}) > _MOST_GROUPS:
        problem = "The maximum number of security groups per interface has been reached."
        raise ServiceError("SecurityGroupsPerInterfaceLimitExceeded", problem)


@_check("CreateSubnet")
def check_block(request: Request) -> None:
    """Refuse a block that is none, or that a subnet cannot have.

    https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html
    """
    block = request.parameters.get("CidrBlock")
    if not block:
        return
    try:
        size = ipaddress.ip_network(block, strict=False).prefixlen if "/" in block else None
    except ValueError:
        size = None
    if size is None:
        raise invalid_value(
            f"Value ({block}) for parameter cidrBlock is invalid. This is not a valid CIDR block.",
        )
    if not _NETMASKS[0] <= size <= _NETMASKS[1]:
        raise ServiceError("InvalidSubnet.Range", f"The CIDR '{block}' is invalid.")
    zones = [one.name for one in backend_of(request.region).describe_availability_zones()]
    zone = request.parameters.get("AvailabilityZone") or zones[0]
    if zone not in zones:  # kizbitz/train#87
        problem = "Subnets can currently only be created in the following availability zones"
        raise invalid_value(
            f"Value ({zone}) for parameter availabilityZone is invalid. {problem}: {', '.join(zones)}."
        )


@_check("AssociateRouteTable")
def check_associate_route_table(request: Request) -> None:
    """Refuse a second route table of a subnet."""
    subnet, wanted = request.parameters.get("SubnetId"), request.parameters["RouteTableId"]
    for table in backend_of(request.region).route_tables.values():
        taken = table._associations.values()  # noqa: SLF001 - moto shows them filtered
        if subnet and table.id != wanted and subnet in taken:
            problem = (
                f"the specified association for route table {wanted} conflicts with an existing association"
            )
            raise ServiceError("Resource.AlreadyAssociated", problem)
