client("sns").create_topic(Name="test", Attributes={"FifoTopic": "true"})
