import json

c = client("cloudformation")
topic = json.dumps({"Resources": {"A": {"Type": "AWS::SNS::Topic"}}})
c.create_stack(StackName="one", TemplateBody=topic)
wait("one")
c.update_stack(
    StackName="one",
    TemplateBody=json.dumps(
        {"Resources": {"A": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": "b"}}}}
    ),
    ResourceTypes=["AWS::EC2::*"],
)
