import json

policy = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "s3:ListAllMyBuckets", "Resource": "*"}],
}
resource = {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": policy}}
body = {"Resources": {"P": resource}}
client("cloudformation").create_stack(StackName="one", TemplateBody=json.dumps(body))
