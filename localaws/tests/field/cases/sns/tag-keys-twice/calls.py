sns = client("sns")
topic = sns.create_topic(Name="t")["TopicArn"]
sns.tag_resource(ResourceArn=topic, Tags=[{"Key": "k", "Value": "1"}, {"Key": "k", "Value": "2"}])
