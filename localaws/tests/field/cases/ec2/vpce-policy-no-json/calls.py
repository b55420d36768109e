e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
e.create_vpc_endpoint(VpcId=vpc, ServiceName="com.amazonaws.us-east-1.s3", PolicyDocument="{not json")
