class Program_weight_tensor_meta_L_kwargs_input_features_:
	name = "in_0"
	original_name = "L_kwargs_input_features_"
	shape = [1, 20, 64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.010
	std = 0.990


class Program_weight_tensor_meta_L_self_modules_conv1_parameters_bias_:
	name = "in_1"
	original_name = "L_self_modules_conv1_parameters_bias_"
	shape = [64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.050
	std = 0.233


class Program_weight_tensor_meta_L_self_modules_conv1_parameters_weight_:
	name = "in_2"
	original_name = "L_self_modules_conv1_parameters_weight_"
	shape = [64, 20, 3]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.001
	std = 0.128


class Program_weight_tensor_meta_L_self_modules_conv2_parameters_bias_:
	name = "in_3"
	original_name = "L_self_modules_conv2_parameters_bias_"
	shape = [64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.024
	std = 0.243


class Program_weight_tensor_meta_L_self_modules_conv2_parameters_weight_:
	name = "in_4"
	original_name = "L_self_modules_conv2_parameters_weight_"
	shape = [64, 64, 3]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.001
	std = 0.100


class Program_weight_tensor_meta_L_self_modules_embed_positions_parameters_weight_:
	name = "in_5"
	original_name = "L_self_modules_embed_positions_parameters_weight_"
	shape = [32, 64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.001
	std = 0.126
