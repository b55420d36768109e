import json

sns = client("sns")
topic = sns.create_topic(Name="t")["TopicArn"]
policy = json.dumps({f"key_{i}": ["value"] for i in range(6)})
sns.subscribe(TopicArn=topic, Protocol="sms", Endpoint="+15551234567", Attributes={"FilterPolicy": policy})
