import io
import json
import zipfile

trust = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ],
}
role = client("iam").create_role(RoleName="r", AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
packed = io.BytesIO()
with zipfile.ZipFile(packed, "w") as archive:
    archive.writestr("index.py", "def handler(event, context): pass")
lambda_ = client("lambda")
lambda_.create_function(
    FunctionName="f",
    Runtime="python3.13",
    Handler="index.handler",
    Role=role,
    Code={"ZipFile": packed.getvalue()},
)
lambda_.put_function_event_invoke_config(
    FunctionName="f",
    DestinationConfig={
        "OnFailure": {"Destination": f"arn:aws:lambda:{REGION}:123456789012:function:doesnotexist"}
    },
)
