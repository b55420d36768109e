f.add_permission(
    FunctionName="f",
    StatementId="s",
    Action="lambda:InvokeFunction",
    Principal="s3.amazonaws.com",
    Qualifier="$LATEST",
)
