e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
place = {"SubnetIds": [subnet], "SecurityGroupIds": ["sg-0123456789abcdef0"]}
client("iam").attach_role_policy(
    RoleName="f", PolicyArn="arn:aws:iam::aws:policy/service-role/AWSLambdaVPCAccessExecutionRole"
)
f.create_function(**{**base, "FunctionName": "g"}, VpcConfig=place)
