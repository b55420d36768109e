image_builder = client("imagebuilder")
component = image_builder.create_component(
    name="c", semanticVersion="1.0.0", platform="Linux", data="name: c", clientToken="1"
)["componentBuildVersionArn"]
recipe = {
    "name": "r",
    "semanticVersion": "1.0.0",
    "components": [{"componentArn": component}],
    "parentImage": "ami-0123456789abcdef0",
}
image_builder.create_image_recipe(clientToken="2", **recipe)
image_builder.create_image_recipe(clientToken="3", **recipe)
