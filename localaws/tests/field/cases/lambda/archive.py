import io
import json
import zipfile

trust = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ],
}
role = client("iam").create_role(RoleName="f", AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
data = io.BytesIO()
with zipfile.ZipFile(data, "w") as archive:
    archive.writestr("index.py", "def handler(event, context): pass")
