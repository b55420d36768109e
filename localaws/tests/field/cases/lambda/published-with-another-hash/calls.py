f.publish_version(FunctionName="f", CodeSha256="somenonexistentsha256")
