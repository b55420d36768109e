e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
image = e.describe_images(
    Owners=["amazon"], Filters=[{"Name": "name", "Values": ["al2023-ami-2023*x86_64"]}]
)["Images"][0]["ImageId"]
e.run_instances(
    ImageId=image, InstanceType="c5.large", KeyName="absent", MinCount=1, MaxCount=1, SubnetId=subnet
)
