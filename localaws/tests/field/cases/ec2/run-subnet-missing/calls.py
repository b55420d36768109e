e = client("ec2")
image = e.describe_images(
    Owners=["amazon"], Filters=[{"Name": "name", "Values": ["al2023-ami-2023*x86_64"]}]
)["Images"][0]["ImageId"]
e.run_instances(
    ImageId=image, InstanceType="m5.large", MinCount=1, MaxCount=1, SubnetId="subnet-0123456789abcdef0"
)
