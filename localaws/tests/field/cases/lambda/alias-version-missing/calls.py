f.create_alias(FunctionName="f", Name="live", FunctionVersion="10")
