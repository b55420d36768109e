f.tag_resource(Resource=f"arn:aws:lambda:{REGION}:123456789012:function:f:1", Tags={"a": "b"})
