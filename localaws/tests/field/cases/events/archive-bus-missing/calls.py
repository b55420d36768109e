events = client("events")
events.create_archive(ArchiveName="a", EventSourceArn=f"arn:aws:events:{REGION}:123456789012:event-bus/nope")
