class Program_weight_tensor_meta_L_kwargs_input_ids_:
	name = "in_0"
	original_name = "L_kwargs_input_ids_"
	shape = [1, 8]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	data = [1, 74, 37, 49, 79, 63, 61, 7]
	max_val = 79
	min_val = 1


class Program_weight_tensor_meta_L_self_modules_embeddings_buffers_position_ids_:
	name = "in_1"
	original_name = "L_self_modules_embeddings_buffers_position_ids_"
	shape = [1, 64]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	max_val = 63
	min_val = 0


class Program_weight_tensor_meta_L_self_modules_embeddings_buffers_token_type_ids_:
	name = "in_2"
	original_name = "L_self_modules_embeddings_buffers_token_type_ids_"
	shape = [1, 64]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	max_val = 0
	min_val = 0


class Program_weight_tensor_meta_L_self_modules_embeddings_modules_LayerNorm_parameters_bias_:
	name = "in_3"
	original_name = "L_self_modules_embeddings_modules_LayerNorm_parameters_bias_"
	shape = [64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.005
	std = 0.230


class Program_weight_tensor_meta_L_self_modules_embeddings_modules_LayerNorm_parameters_weight_:
	name = "in_4"
	original_name = "L_self_modules_embeddings_modules_LayerNorm_parameters_weight_"
	shape = [64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 1.009
	std = 0.227


class Program_weight_tensor_meta_L_self_modules_embeddings_modules_position_embeddings_parameters_weight_:
	name = "in_5"
	original_name = "L_self_modules_embeddings_modules_position_embeddings_parameters_weight_"
	shape = [64, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.000
	std = 0.125


class Program_weight_tensor_meta_L_self_modules_embeddings_modules_token_type_embeddings_parameters_weight_:
	name = "in_6"
	original_name = "L_self_modules_embeddings_modules_token_type_embeddings_parameters_weight_"
	shape = [2, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.009
	std = 0.117


class Program_weight_tensor_meta_L_self_modules_embeddings_modules_word_embeddings_parameters_weight_:
	name = "in_7"
	original_name = "L_self_modules_embeddings_modules_word_embeddings_parameters_weight_"
	shape = [128, 64]
	dtype = "torch.float16"
	device = "cpu"
	mean = 0.001
	std = 0.126
