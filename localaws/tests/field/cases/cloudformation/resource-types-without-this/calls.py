c.update_stack(
    StackName="one",
    TemplateBody=json.dumps(
        {"Resources": {"A": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": "b"}}}}
    ),
    ResourceTypes=["AWS::EC2::*"],
)
