arns = [
    f.publish_layer_version(LayerName=name, Content={"ZipFile": data.getvalue()})["LayerVersionArn"]
    for name in "aa"
]
f.update_function_configuration(FunctionName="f", Layers=arns)
