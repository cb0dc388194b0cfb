class Program_weight_tensor_meta_L_self_modules_layers_modules_0_modules_input_layernorm_parameters_weight_:
	name = "in_0"
	original_name = "L_self_modules_layers_modules_0_modules_input_layernorm_parameters_weight_"
	shape = [64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.973
	std = 0.269


class Program_weight_tensor_meta_inputs_embeds:
	name = "in_1"
	original_name = "inputs_embeds"
	shape = [2, 16, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.005
	std = 0.129
