class Program_weight_tensor_meta_L_self_modules_layers_modules_0_modules_message_parameters_bias_:
	name = "in_0"
	original_name = "L_self_modules_layers_modules_0_modules_message_parameters_bias_"
	shape = [32]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.119
	std = 0.229


class Program_weight_tensor_meta_L_self_modules_layers_modules_0_modules_message_parameters_weight_:
	name = "in_1"
	original_name = "L_self_modules_layers_modules_0_modules_message_parameters_weight_"
	shape = [32, 64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.001
	std = 0.125


class Program_weight_tensor_meta_L_x_:
	name = "in_2"
	original_name = "L_x_"
	shape = [20, 32]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.015
	std = 0.996


class Program_weight_tensor_meta_source:
	name = "in_3"
	original_name = "source"
	shape = [28]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	data = [13, 17, 16, 15, 8, 2, 17, 1, 5, 14, 13, 14, 12, 15, 16, 14, 7, 4, 17, 4, 8, 13, 0, 18, 1, 19, 0, 13]
	max_val = 19
	min_val = 0


class Program_weight_tensor_meta_target:
	name = "in_4"
	original_name = "target"
	shape = [28]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	data = [13, 18, 6, 3, 12, 5, 7, 16, 17, 3, 14, 12, 8, 17, 18, 6, 18, 14, 10, 7, 13, 13, 6, 3, 8, 3, 14, 5]
	max_val = 18
	min_val = 3
