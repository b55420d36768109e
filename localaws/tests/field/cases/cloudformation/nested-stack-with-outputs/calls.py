import json

s3 = client("s3")
s3.create_bucket(Bucket="one-templates")
child = {
    "Parameters": {"Name": {"Type": "String"}},
    "Resources": {"A": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": {"Ref": "Name"}}}},
    "Outputs": {"Topic": {"Value": {"Ref": "A"}}},
}
s3.put_object(Bucket="one-templates", Key="child.json", Body=json.dumps(child))
url = "https://one-templates.s3.us-east-1.amazonaws.com/child.json"
nested = {"TemplateURL": url, "Parameters": {"Name": "nested"}}
value = {"Fn::GetAtt": ["Child", "Outputs.Topic"]}
parent = {
    "Resources": {
        "Child": {"Type": "AWS::CloudFormation::Stack", "Properties": nested},
        "P": {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": value}},
    }
}
c = client("cloudformation")
c.create_stack(StackName="one", TemplateBody=json.dumps(parent))
wait("one")
found = c.describe_stack_resource(StackName="one", LogicalResourceId="Child")["StackResourceDetail"]
wait(found["PhysicalResourceId"])
c.delete_stack(StackName="one")
wait(found["PhysicalResourceId"])
