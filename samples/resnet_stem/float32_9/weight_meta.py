class Program_weight_tensor_meta_L_self_modules_bn1_buffers_running_mean_:
	name = "in_0"
	original_name = "L_self_modules_bn1_buffers_running_mean_"
	shape = [16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.096
	std = 0.196


class Program_weight_tensor_meta_L_self_modules_bn1_buffers_running_var_:
	name = "in_1"
	original_name = "L_self_modules_bn1_buffers_running_var_"
	shape = [16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.093
	std = 0.289
	min_val = 0


class Program_weight_tensor_meta_L_self_modules_bn1_parameters_bias_:
	name = "in_2"
	original_name = "L_self_modules_bn1_parameters_bias_"
	shape = [16]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.019
	std = 0.290


class Program_weight_tensor_meta_L_self_modules_bn1_parameters_weight_:
	name = "in_3"
	original_name = "L_self_modules_bn1_parameters_weight_"
	shape = [16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.045
	std = 0.235


class Program_weight_tensor_meta_L_self_modules_conv1_parameters_weight_:
	name = "in_4"
	original_name = "L_self_modules_conv1_parameters_weight_"
	shape = [16, 3, 7, 7]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.002
	std = 0.102


class Program_weight_tensor_meta_L_x_:
	name = "in_5"
	original_name = "L_x_"
	shape = [1, 3, 32, 32]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.025
	std = 0.996
