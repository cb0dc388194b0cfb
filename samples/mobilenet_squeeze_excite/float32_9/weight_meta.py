class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_depthwise_modules_0_parameters_weight_:
	name = "in_0"
	original_name = "L_self_modules_blocks_modules_0_modules_depthwise_modules_0_parameters_weight_"
	shape = [64, 1, 3, 3]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.010
	std = 0.340


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_depthwise_modules_1_buffers_running_mean_:
	name = "in_1"
	original_name = "L_self_modules_blocks_modules_0_modules_depthwise_modules_1_buffers_running_mean_"
	shape = [64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.009
	std = 0.266


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_depthwise_modules_1_buffers_running_var_:
	name = "in_2"
	original_name = "L_self_modules_blocks_modules_0_modules_depthwise_modules_1_buffers_running_var_"
	shape = [64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.009
	std = 0.275
	min_val = 0


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_depthwise_modules_1_parameters_bias_:
	name = "in_3"
	original_name = "L_self_modules_blocks_modules_0_modules_depthwise_modules_1_parameters_bias_"
	shape = [64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.058
	std = 0.253


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_depthwise_modules_1_parameters_weight_:
	name = "in_4"
	original_name = "L_self_modules_blocks_modules_0_modules_depthwise_modules_1_parameters_weight_"
	shape = [64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.000
	std = 0.300


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_project_modules_0_parameters_weight_:
	name = "in_5"
	original_name = "L_self_modules_blocks_modules_0_modules_project_modules_0_parameters_weight_"
	shape = [16, 64, 1, 1]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.004
	std = 0.121


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_project_modules_1_buffers_running_mean_:
	name = "in_6"
	original_name = "L_self_modules_blocks_modules_0_modules_project_modules_1_buffers_running_mean_"
	shape = [16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.055
	std = 0.339


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_project_modules_1_buffers_running_var_:
	name = "in_7"
	original_name = "L_self_modules_blocks_modules_0_modules_project_modules_1_buffers_running_var_"
	shape = [16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.967
	std = 0.245
	min_val = 0


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_project_modules_1_parameters_bias_:
	name = "in_8"
	original_name = "L_self_modules_blocks_modules_0_modules_project_modules_1_parameters_bias_"
	shape = [16]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.014
	std = 0.234


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_project_modules_1_parameters_weight_:
	name = "in_9"
	original_name = "L_self_modules_blocks_modules_0_modules_project_modules_1_parameters_weight_"
	shape = [16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 1.046
	std = 0.289


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_se_modules_fc1_parameters_bias_:
	name = "in_10"
	original_name = "L_self_modules_blocks_modules_0_modules_se_modules_fc1_parameters_bias_"
	shape = [16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.033
	std = 0.264


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_se_modules_fc1_parameters_weight_:
	name = "in_11"
	original_name = "L_self_modules_blocks_modules_0_modules_se_modules_fc1_parameters_weight_"
	shape = [16, 64, 1, 1]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.001
	std = 0.129


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_se_modules_fc2_parameters_bias_:
	name = "in_12"
	original_name = "L_self_modules_blocks_modules_0_modules_se_modules_fc2_parameters_bias_"
	shape = [64]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.046
	std = 0.253


class Program_weight_tensor_meta_L_self_modules_blocks_modules_0_modules_se_modules_fc2_parameters_weight_:
	name = "in_13"
	original_name = "L_self_modules_blocks_modules_0_modules_se_modules_fc2_parameters_weight_"
	shape = [64, 16, 1, 1]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.003
	std = 0.253


class Program_weight_tensor_meta_input_3:
	name = "in_14"
	original_name = "input_3"
	shape = [1, 16, 16, 16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.266
	std = 0.686


class Program_weight_tensor_meta_input_6:
	name = "in_15"
	original_name = "input_6"
	shape = [1, 64, 16, 16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.103
	std = 0.437
