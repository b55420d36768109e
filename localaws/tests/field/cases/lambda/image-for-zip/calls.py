image = f"123456789012.dkr.ecr.{REGION}.amazonaws.com/f:latest"
f.update_function_code(FunctionName="f", ImageUri=image)
