e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
group = e.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
image = e.describe_images(
    Owners=["amazon"], Filters=[{"Name": "name", "Values": ["al2023-ami-2023*x86_64"]}]
)["Images"][0]["ImageId"]
run = e.run_instances(ImageId=image, InstanceType="m5.large", MinCount=1, MaxCount=1, SubnetId=subnet)
eni = run["Instances"][0]["NetworkInterfaces"][0]["NetworkInterfaceId"]
e.delete_network_interface(NetworkInterfaceId=eni)
