f.publish_version(FunctionName="f", RevisionId="wrong")
