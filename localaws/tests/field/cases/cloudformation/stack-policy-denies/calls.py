policy = {
    "Statement": [
        {"Effect": "Deny", "Action": "Update:*", "Principal": "*", "Resource": "LogicalResourceId/A"},
        {"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"},
    ]
}
c.set_stack_policy(StackName="one", StackPolicyBody=json.dumps(policy))
c.update_stack(
    StackName="one",
    TemplateBody=json.dumps(
        {"Resources": {"A": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": "b"}}}}
    ),
)
failed("one")
