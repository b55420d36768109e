e = client("ec2")
image = e.describe_images(
    Owners=["amazon"], Filters=[{"Name": "name", "Values": ["al2023-ami-2023*x86_64"]}]
)["Images"][0]["ImageId"]
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24", AvailabilityZone="us-east-1a")["Subnet"][
    "SubnetId"
]
i = e.run_instances(ImageId=image, InstanceType="c5.large", SubnetId=subnet, MinCount=1, MaxCount=1)[
    "Instances"
][0]["InstanceId"]
