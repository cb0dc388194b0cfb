class Program_weight_tensor_meta_L_kwargs_input_features_:
	name = "in_0"
	original_name = "L_kwargs_input_features_"
	shape = [2, 20, 48]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.000
	std = 1.011


class Program_weight_tensor_meta_L_self_modules_conv1_parameters_bias_:
	name = "in_1"
	original_name = "L_self_modules_conv1_parameters_bias_"
	shape = [64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.009
	std = 0.230


class Program_weight_tensor_meta_L_self_modules_conv1_parameters_weight_:
	name = "in_2"
	original_name = "L_self_modules_conv1_parameters_weight_"
	shape = [64, 20, 3]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.000
	std = 0.128


class Program_weight_tensor_meta_L_self_modules_conv2_parameters_bias_:
	name = "in_3"
	original_name = "L_self_modules_conv2_parameters_bias_"
	shape = [64]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.026
	std = 0.251


class Program_weight_tensor_meta_L_self_modules_conv2_parameters_weight_:
	name = "in_4"
	original_name = "L_self_modules_conv2_parameters_weight_"
	shape = [64, 64, 3]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.001
	std = 0.100


class Program_weight_tensor_meta_L_self_modules_embed_positions_parameters_weight_:
	name = "in_5"
	original_name = "L_self_modules_embed_positions_parameters_weight_"
	shape = [24, 64]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.007
	std = 0.125
