e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
client("autoscaling").create_auto_scaling_group(
    AutoScalingGroupName="g", MinSize=0, MaxSize=1, VPCZoneIdentifier=subnet
)
