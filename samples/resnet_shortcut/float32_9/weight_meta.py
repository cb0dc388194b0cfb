class Program_weight_tensor_meta_L_self_modules_layer1_modules_downsample_modules_0_parameters_weight_:
	name = "in_0"
	original_name = "L_self_modules_layer1_modules_downsample_modules_0_parameters_weight_"
	shape = [16, 16, 1, 1]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.012
	std = 0.250


class Program_weight_tensor_meta_L_self_modules_layer1_modules_downsample_modules_1_buffers_running_mean_:
	name = "in_1"
	original_name = "L_self_modules_layer1_modules_downsample_modules_1_buffers_running_mean_"
	shape = [16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.009
	std = 0.205


class Program_weight_tensor_meta_L_self_modules_layer1_modules_downsample_modules_1_buffers_running_var_:
	name = "in_2"
	original_name = "L_self_modules_layer1_modules_downsample_modules_1_buffers_running_var_"
	shape = [16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.992
	std = 0.293
	min_val = 0


class Program_weight_tensor_meta_L_self_modules_layer1_modules_downsample_modules_1_parameters_bias_:
	name = "in_3"
	original_name = "L_self_modules_layer1_modules_downsample_modules_1_parameters_bias_"
	shape = [16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.056
	std = 0.177


class Program_weight_tensor_meta_L_self_modules_layer1_modules_downsample_modules_1_parameters_weight_:
	name = "in_4"
	original_name = "L_self_modules_layer1_modules_downsample_modules_1_parameters_weight_"
	shape = [16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.928
	std = 0.218


class Program_weight_tensor_meta_out_1:
	name = "in_5"
	original_name = "out_1"
	shape = [1, 16, 8, 8]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.108
	std = 1.257


class Program_weight_tensor_meta_x:
	name = "in_6"
	original_name = "x"
	shape = [1, 16, 8, 8]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.573
	std = 0.873
