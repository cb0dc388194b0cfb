class Program_weight_tensor_meta_L_self_modules_layers_modules_0_modules_mixer_modules_conv1d_parameters_bias_:
	name = "in_0"
	original_name = "L_self_modules_layers_modules_0_modules_mixer_modules_conv1d_parameters_bias_"
	shape = [64]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.021
	std = 0.238


class Program_weight_tensor_meta_L_self_modules_layers_modules_0_modules_mixer_modules_conv1d_parameters_weight_:
	name = "in_1"
	original_name = "L_self_modules_layers_modules_0_modules_mixer_modules_conv1d_parameters_weight_"
	shape = [64, 1, 4]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.031
	std = 0.494


class Program_weight_tensor_meta_projected_states:
	name = "in_2"
	original_name = "projected_states"
	shape = [2, 128, 16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.029
	std = 1.092
