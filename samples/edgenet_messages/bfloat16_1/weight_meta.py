class Program_weight_tensor_meta_L_self_modules_layers_modules_0_modules_message_parameters_bias_:
	name = "in_0"
	original_name = "L_self_modules_layers_modules_0_modules_message_parameters_bias_"
	shape = [32]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.119
	std = 0.229


class Program_weight_tensor_meta_L_self_modules_layers_modules_0_modules_message_parameters_weight_:
	name = "in_1"
	original_name = "L_self_modules_layers_modules_0_modules_message_parameters_weight_"
	shape = [32, 64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.001
	std = 0.125


class Program_weight_tensor_meta_L_x_:
	name = "in_2"
	original_name = "L_x_"
	shape = [96, 32]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.010
	std = 1.009


class Program_weight_tensor_meta_source:
	name = "in_3"
	original_name = "source"
	shape = [300]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	max_val = 95
	min_val = 0


class Program_weight_tensor_meta_target:
	name = "in_4"
	original_name = "target"
	shape = [300]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	max_val = 95
	min_val = 0
