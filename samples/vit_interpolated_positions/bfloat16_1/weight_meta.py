class Program_weight_tensor_meta_L_self_modules_embeddings_parameters_cls_token_:
	name = "in_0"
	original_name = "L_self_modules_embeddings_parameters_cls_token_"
	shape = [1, 1, 64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.027
	std = 0.112


class Program_weight_tensor_meta_L_self_modules_embeddings_parameters_position_embeddings_:
	name = "in_1"
	original_name = "L_self_modules_embeddings_parameters_position_embeddings_"
	shape = [1, 26, 64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.001
	std = 0.100


class Program_weight_tensor_meta_embeddings:
	name = "in_2"
	original_name = "embeddings"
	shape = [1, 36, 64]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.016
	std = 1.393
