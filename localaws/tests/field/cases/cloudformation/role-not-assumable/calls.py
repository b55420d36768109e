trust = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ],
}
role = client("iam").create_role(RoleName="nodes", AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
c.update_stack(
    StackName="one",
    TemplateBody=json.dumps(
        {"Resources": {"A": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": "b"}}}}
    ),
    RoleARN=role,
)
