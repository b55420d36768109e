sns = client("sns")
topic = sns.create_topic(Name="t")["TopicArn"]
sns.get_topic_attributes(TopicArn="topic")
