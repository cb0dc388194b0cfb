class Program_weight_tensor_meta_L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_key_parameters_bias_:
	name = "in_0"
	original_name = "L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_key_parameters_bias_"
	shape = [64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.025
	std = 0.290


class Program_weight_tensor_meta_L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_key_parameters_weight_:
	name = "in_1"
	original_name = "L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_key_parameters_weight_"
	shape = [64, 64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.003
	std = 0.125


class Program_weight_tensor_meta_L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_query_parameters_bias_:
	name = "in_2"
	original_name = "L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_query_parameters_bias_"
	shape = [64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.015
	std = 0.214


class Program_weight_tensor_meta_L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_query_parameters_weight_:
	name = "in_3"
	original_name = "L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_query_parameters_weight_"
	shape = [64, 64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.002
	std = 0.126


class Program_weight_tensor_meta_L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_value_parameters_bias_:
	name = "in_4"
	original_name = "L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_value_parameters_bias_"
	shape = [64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.052
	std = 0.256


class Program_weight_tensor_meta_L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_value_parameters_weight_:
	name = "in_5"
	original_name = "L_self_modules_encoder_modules_layer_modules_0_modules_attention_modules_self_modules_value_parameters_weight_"
	shape = [64, 64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.003
	std = 0.127


class Program_weight_tensor_meta_embeddings_3:
	name = "in_6"
	original_name = "embeddings_3"
	shape = [1, 8, 64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.003
	std = 1.047


class Program_weight_tensor_meta_result_2:
	name = "in_7"
	original_name = "result_2"
	shape = [1, 1, 8, 8]
	dtype = "torch.bool"
	device = "cpu"
	mean = None
	std = None
