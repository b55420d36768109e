f.publish_version(FunctionName="f")
f.create_alias(
    FunctionName="f",
    Name="live",
    FunctionVersion="1",
    RoutingConfig={"AdditionalVersionWeights": {"1": 0.5}},
)
