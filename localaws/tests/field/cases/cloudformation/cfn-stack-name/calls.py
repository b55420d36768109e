client("cloudformation").create_stack(
    StackName="1s", TemplateBody='{"Resources":{"A":{"Type":"AWS::SNS::Topic"}}}'
)
