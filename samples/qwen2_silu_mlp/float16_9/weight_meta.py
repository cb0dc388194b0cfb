class Program_weight_tensor_meta_L_self_modules_layers_modules_0_modules_mlp_modules_down_proj_parameters_weight_:
	name = "in_0"
	original_name = "L_self_modules_layers_modules_0_modules_mlp_modules_down_proj_parameters_weight_"
	shape = [64, 160]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.001
	std = 0.100


class Program_weight_tensor_meta_L_self_modules_layers_modules_0_modules_mlp_modules_gate_proj_parameters_weight_:
	name = "in_1"
	original_name = "L_self_modules_layers_modules_0_modules_mlp_modules_gate_proj_parameters_weight_"
	shape = [160, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.004
	std = 0.126


class Program_weight_tensor_meta_L_self_modules_layers_modules_0_modules_mlp_modules_up_proj_parameters_weight_:
	name = "in_2"
	original_name = "L_self_modules_layers_modules_0_modules_mlp_modules_up_proj_parameters_weight_"
	shape = [160, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.002
	std = 0.123


class Program_weight_tensor_meta_hidden_states_5:
	name = "in_3"
	original_name = "hidden_states_5"
	shape = [2, 16, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.016
	std = 0.634


class Program_weight_tensor_meta_hidden_states_8:
	name = "in_4"
	original_name = "hidden_states_8"
	shape = [2, 16, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.036
	std = 1.010
