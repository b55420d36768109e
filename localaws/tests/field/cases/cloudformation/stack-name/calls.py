client("cloudformation").create_stack(
    StackName="*@da591fa3_$", TemplateBody='{"Resources": {"A": {"Type": "AWS::SNS::Topic"}}}'
)
