"""Services of Amazon ECS and node groups of Amazon EKS: tasks, load balancers, hosts and clusters that fit each other."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_checks.model.nodes import VPC, Nodes, nodes_of, vpc_of
from ultracluster_checks.model.permissions import may, role_behind
from ultracluster_checks.model.template import Resource, Templates
from ultracluster_checks.problem import Wrong, rule
from ultracluster_checks.security_groups import group_rules
from ultracluster_rules.findings import quote

_CLUSTER: Final = re.compile(r"\bECS_CLUSTER=['\"]?([^\s'\"]+)")
_TASK: Final = "AWS::ECS::TaskDefinition"
_ADDON: Final = "AWS::EKS::Addon"
_EKS: Final = "AWS::EKS::Cluster"


@rule("UC6463", "AWS::ECS::Service")
def services_fit_their_tasks(service: Resource) -> Iterator[Wrong]:
    """Find services whose load balancer, network or launch type does not fit their task definition.

    Amazon ECS API reference, CreateService (2026-11): it is refused, or its tasks are never replaced or healthy.
    """
    task, kind = service["TaskDefinition"].target, service["LaunchType"].text
    if task is None or task.type != _TASK:
        return
    mode, kinds = task["NetworkMode"].text, task["RequiresCompatibilities"]
    ports = {each["Name"].text: each["PortMappings"] for each in task["ContainerDefinitions"].items}
    for balancer in service["LoadBalancers"].items:
        name, port, group = (
            balancer["ContainerName"],
            balancer["ContainerPort"],
            balancer["TargetGroupArn"].target,
        )
        if name.text is not None and None not in ports and name.text not in ports:
            yield (
                name,
                f"got {quote(name.text)}, which is no container of {task.logical_id}",
                " or ".join(map(str, ports)),
            )
        mapped = (
            [each["ContainerPort"].number for each in ports[name.text].items]
            if name.text in ports
            else [None]
        )
        if port.number is not None and None not in mapped and port.number not in mapped:
            yield port, f"got {port.number}, and the container has {mapped}", "a port of the container"
        to, wanted = (
            group["TargetType"] if group is not None else None,
            "ip" if mode == "awsvpc" else "instance",
        )
        if to is not None and not to.unknown and mode and (to.text or "instance") != wanted:
            yield to, f"got {to.text or 'instance'}, and tasks have the network mode {mode}", wanted
    if kind == "FARGATE" and (mode not in {"awsvpc", None} or (kinds.texts and kind not in kinds.texts)):
        yield service["LaunchType"], f"got {kind}, and {task.logical_id} is not made for it", "EC2"
    if mode == "awsvpc" and service["NetworkConfiguration"].missing:
        yield service["NetworkConfiguration"], "none, and tasks have interfaces of their own", "subnets"
    least, most = (
        service["DeploymentConfiguration"][f"{each}Percent"] for each in ("MinimumHealthy", "Maximum")
    )
    if least.number is not None and most.number is not None and least.number >= 100 >= most.number:  # noqa: PLR2004
        yield (
            least,
            f"got {least.number} to {most.number} %, between which no task is replaced",
            "less, or more",
        )


@rule("UC6463")
def hosts_join_the_cluster_of_their_services(templates: Templates) -> Iterator[Wrong]:
    """Find hosts whose user data names another cluster than the services have, and such user data under AWS Batch."""
    hosts = [(each, _CLUSTER.findall(each.data["UserData"].pattern)) for each in nodes_of(templates)]
    used = [
        each["Cluster"].target
        for each in templates.of_type("AWS::ECS::Service")
        if each["LaunchType"].text != "FARGATE"
    ]
    names = {
        name
        for each in used
        if each is not None
        for name in (f"${{{each.logical_id}}}", each["ClusterName"].text)
    }
    for nodes, joined in hosts:
        profile, policy = nodes.data["IamInstanceProfile"], "AmazonEC2ContainerServiceforEC2Role"
        role = role_behind(profile["Arn"]) or role_behind(profile["Name"])
        if (
            joined
            and role is not None
            and not nodes.in_batch
            and not may(role, "ecs:RegisterContainerInstance")
        ):
            got = (
                f"{role.logical_id} may not register with Amazon ECS: hosts start, are billed and never join"
            )
            yield nodes.settings["LaunchTemplate"], got, f"the managed policy {policy}"
        if nodes.in_batch and joined:
            got = f"the nodes join {joined[0]}, and AWS Batch waits for them in a cluster of its own"
            yield nodes.data["UserData"], got, "no ECS_CLUSTER"
        elif (
            joined
            and used
            and None not in used
            and not names & {*joined}
            and ("${" not in joined[0] or nodes.data["UserData"].targets)
        ):
            got = (
                f"the nodes join {joined[0]}, and the services are in {used[0].logical_id if used[0] else ''}"
            )
            yield nodes.data["UserData"], got, "the cluster of the services"


@rule("UC6463", nodes_of)
def nodes_reach_their_control_plane(nodes: Nodes) -> Iterator[Wrong]:
    """Find node groups with security groups of their own that neither are nor admit those of their cluster.

    Amazon EKS user guide, launch templates (2026-11): Amazon EKS then adds no group, and nodes do not join.
    """
    cluster = nodes.settings["ClusterName"].target
    places = [each["Groups"] for each in nodes.interfaces if not each["Groups"].missing] or [
        nodes.data["SecurityGroupIds"]
    ]
    given = [each for at in places for each in at.items]
    if (
        not nodes.in_eks
        or cluster is None
        or cluster.type != _EKS
        or not given
        or any(each.target is None for each in given)
    ):
        return
    own = {each.target for each in cluster["ResourcesVpcConfig"]["SecurityGroupIds"].items} | {cluster}
    groups = [each.target for each in given]
    rules = [
        rule
        for group in groups
        if group is not None and group is not cluster
        for rule in group_rules(group, "in")
    ]
    if not any(group in own for group in groups) and not any(
        each.peer.unknown or each.peer.target in own for each in rules
    ):
        got = f"none of the groups is that of {cluster.logical_id}, or admits it: nodes start, are billed and never join"
        yield places[0], got, f"ClusterSecurityGroupId of {cluster.logical_id}"


@rule("UC6463", "AWS::ECS::CapacityProvider")
def protected_hosts_can_be_managed(provider: Resource) -> Iterator[Wrong]:
    """Find protection of tasks over hosts without it, or without managed scaling: ECS API, AutoScalingGroupProvider (2026-11)."""
    own = provider["AutoScalingGroupProvider"]
    group, managed = own["AutoScalingGroupArn"].target, own["ManagedTerminationProtection"]
    open_ = group is not None and group["NewInstancesProtectedFromScaleIn"].off
    scaled = not own["ManagedScaling"].missing and own["ManagedScaling"]["Status"].text != "DISABLED"
    if managed.text == "ENABLED" and (open_ or not scaled):
        got = "got ENABLED, which needs managed scaling and a group that protects its hosts from scale-in"
        yield managed, got, "NewInstancesProtectedFromScaleIn: true, and ManagedScaling"


@rule("UC6467", _EKS)
def clusters_can_be_used(cluster: Resource) -> Iterator[Wrong]:
    """Find control planes without an endpoint or its name, and pods without credentials: EKS user guide, endpoint access, agent (2026-11)."""
    network, templates = cluster["ResourcesVpcConfig"], cluster.template.templates
    private, public = network["EndpointPrivateAccess"], network["EndpointPublicAccess"]
    if private.off and public.flag is False and not network.unknown:
        yield public, "no endpoint at all, which Amazon EKS refuses", "the private or the public one"
    for vpc in {vpc_of(each) for each in network["SubnetIds"].items} if private.flag else ():
        if vpc is not None and vpc.type == VPC and vpc["EnableDnsHostnames"].off:
            got = f"{vpc.logical_id} has no DNS hostnames, which the private endpoint needs"
            yield private, got, "EnableDnsHostnames: true"
    addons = [each for each in templates.of_type(_ADDON) if each["ClusterName"].target in {cluster, None}]
    alone = cluster.referrers("AWS::EKS::PodIdentityAssociation", "ClusterName")
    given = [each["RoleArn"] for each in alone] + [each["PodIdentityAssociations"] for each in addons]
    agent = {each["AddonName"].text for each in addons} & {"eks-pod-identity-agent", None}
    associated = [at for at in given if not at.empty] if addons and not agent else []
    if associated and cluster["ComputeConfig"]["Enabled"].flag is not True:
        yield associated[0], "the cluster has no agent that gives pods their role", "eks-pod-identity-agent"


@rule("UC6467", nodes_of)
def node_groups_can_start(nodes: Nodes) -> Iterator[Wrong]:
    """Find node groups that Amazon EKS refuses, or whose pods get no addresses: user guide, launch templates, node role (2026-11)."""
    if not nodes.in_eks:
        return
    for name in ("IamInstanceProfile", "HibernationOptions", "SubnetId"):
        if not (at := nodes.data[name]).missing and not at.unknown:
            yield at, f"Amazon EKS refuses a launch template with {name}, which it sets itself", f"no {name}"
    role, templates = role_behind(nodes.settings["NodeRole"]), nodes.owner.template.templates
    cnis = [each for each in templates.of_type(_ADDON) if each["AddonName"].text in {"vpc-cni", None}]
    own = [at for each in cnis for at in (each["ServiceAccountRoleArn"], each["PodIdentityAssociations"])]
    accounts = [each["ServiceAccount"].text for each in templates.of_type("AWS::EKS::PodIdentityAssociation")]
    given = any(not at.missing for at in own) or {"aws-node", None} & {*accounts}
    if role is not None and not given and not may(role, "ec2:AssignPrivateIpAddresses"):
        got = f"{role.logical_id} lacks AmazonEKS_CNI_Policy, and no add-on has it: pods get no addresses"
        yield nodes.settings["NodeRole"], got, "AmazonEKS_CNI_Policy"
