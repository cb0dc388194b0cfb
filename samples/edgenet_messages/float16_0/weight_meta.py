class Program_weight_tensor_meta_L_self_modules_layers_modules_0_modules_message_parameters_bias_:
	name = "in_0"
	original_name = "L_self_modules_layers_modules_0_modules_message_parameters_bias_"
	shape = [32]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.119
	std = 0.229


class Program_weight_tensor_meta_L_self_modules_layers_modules_0_modules_message_parameters_weight_:
	name = "in_1"
	original_name = "L_self_modules_layers_modules_0_modules_message_parameters_weight_"
	shape = [32, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.001
	std = 0.125


class Program_weight_tensor_meta_L_x_:
	name = "in_2"
	original_name = "L_x_"
	shape = [12, 32]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.001
	std = 1.006


class Program_weight_tensor_meta_source:
	name = "in_3"
	original_name = "source"
	shape = [24]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	data = [0, 7, 11, 5, 0, 3, 8, 10, 11, 2, 8, 10, 3, 11, 9, 6, 7, 6, 11, 9, 5, 5, 4, 6]
	max_val = 11
	min_val = 0


class Program_weight_tensor_meta_target:
	name = "in_4"
	original_name = "target"
	shape = [24]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	data = [3, 5, 11, 8, 9, 11, 5, 7, 7, 9, 5, 4, 4, 3, 5, 5, 1, 6, 9, 1, 3, 7, 6, 3]
	max_val = 11
	min_val = 1
