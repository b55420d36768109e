e = client("ec2")
v = e.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
s = e.create_subnet(VpcId=v, CidrBlock="10.1.0.0/24", AvailabilityZone=REGION + "a")["Subnet"]["SubnetId"]
ami = e.describe_images(Owners=["amazon"], Filters=[{"Name": "name", "Values": ["al2023-ami-2023*x86_64"]}])[
    "Images"
][0]["ImageId"]
e.create_placement_group(GroupName="g", Strategy="cluster")
e.run_instances(
    ImageId=ami, InstanceType="c5n.18xlarge", MinCount=1, MaxCount=1, SubnetId=s, Placement={"GroupName": "g"}
)
e.delete_placement_group(GroupName="g")
