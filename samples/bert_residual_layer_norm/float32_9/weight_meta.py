class Program_weight_tensor_meta_L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_output_modules_LayerNorm_parameters_bias_:
	name = "in_0"
	original_name = "L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_output_modules_LayerNorm_parameters_bias_"
	shape = [64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.039
	std = 0.209


class Program_weight_tensor_meta_L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_output_modules_LayerNorm_parameters_weight_:
	name = "in_1"
	original_name = "L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_output_modules_LayerNorm_parameters_weight_"
	shape = [64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.985
	std = 0.229


class Program_weight_tensor_meta_embeddings_3:
	name = "in_2"
	original_name = "embeddings_3"
	shape = [2, 16, 64]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.003
	std = 1.057


class Program_weight_tensor_meta_hidden_states:
	name = "in_3"
	original_name = "hidden_states"
	shape = [2, 16, 64]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.037
	std = 0.757
