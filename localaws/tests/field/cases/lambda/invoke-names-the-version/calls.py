answered = f.invoke(FunctionName="f")
assert answered.get("ExecutedVersion") == "$LATEST"
