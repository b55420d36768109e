import json

s3 = client("s3")
s3.create_bucket(Bucket="one-templates")
child = {"Resources": {"A": {"Type": "AWS::SNS::Topic"}}}
s3.put_object(Bucket="one-templates", Key="child.json", Body=json.dumps(child))
parent = {
    "Resources": {
        "Child": {
            "Type": "AWS::CloudFormation::Stack",
            "Properties": {"TemplateURL": "s3://one-templates/child.json"},
        }
    }
}
c = client("cloudformation")
c.create_stack(StackName="one", TemplateBody=json.dumps(parent))
failed("one")
