arns = [
    f.publish_layer_version(LayerName=name, Content={"ZipFile": data.getvalue()})["LayerVersionArn"]
    for name in "abcdef"
]
f.update_function_configuration(FunctionName="f", Layers=arns)
