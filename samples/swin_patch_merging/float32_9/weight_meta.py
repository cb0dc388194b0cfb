class Program_weight_tensor_meta_L_self_modules_encoder_modules_layers_modules_0_modules_downsample_modules_norm_parameters_bias_:
	name = "in_0"
	original_name = "L_self_modules_encoder_modules_layers_modules_0_modules_downsample_modules_norm_parameters_bias_"
	shape = [64]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.046
	std = 0.266


class Program_weight_tensor_meta_L_self_modules_encoder_modules_layers_modules_0_modules_downsample_modules_norm_parameters_weight_:
	name = "in_1"
	original_name = "L_self_modules_encoder_modules_layers_modules_0_modules_downsample_modules_norm_parameters_weight_"
	shape = [64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.007
	std = 0.270


class Program_weight_tensor_meta_L_self_modules_encoder_modules_layers_modules_0_modules_downsample_modules_reduction_parameters_weight_:
	name = "in_2"
	original_name = "L_self_modules_encoder_modules_layers_modules_0_modules_downsample_modules_reduction_parameters_weight_"
	shape = [32, 64]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.002
	std = 0.124


class Program_weight_tensor_meta_hidden_states_19:
	name = "in_3"
	original_name = "hidden_states_19"
	shape = [1, 256, 16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.181
	std = 1.565
