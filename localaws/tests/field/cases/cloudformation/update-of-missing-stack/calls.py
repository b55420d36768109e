client("cloudformation").update_stack(
    StackName="none", TemplateBody='{"Resources": {"A": {"Type": "AWS::SNS::Topic"}}}'
)
