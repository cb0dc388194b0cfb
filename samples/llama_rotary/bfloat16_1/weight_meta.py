class Program_weight_tensor_meta_cos_2:
	name = "in_0"
	original_name = "cos_2"
	shape = [1, 12, 16]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.708
	std = 0.583


class Program_weight_tensor_meta_key_states:
	name = "in_1"
	original_name = "key_states"
	shape = [4, 2, 12, 16]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.043
	std = 0.970


class Program_weight_tensor_meta_query_states:
	name = "in_2"
	original_name = "query_states"
	shape = [4, 4, 12, 16]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = -0.020
	std = 0.966


class Program_weight_tensor_meta_sin_2:
	name = "in_3"
	original_name = "sin_2"
	shape = [1, 12, 16]
	dtype = "torch.bfloat16"
	device = "cpu"
	mean = 0.159
	std = 0.370
