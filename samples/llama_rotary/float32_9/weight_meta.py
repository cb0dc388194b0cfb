class Program_weight_tensor_meta_cos_2:
	name = "in_0"
	original_name = "cos_2"
	shape = [1, 16, 16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.687
	std = 0.579


class Program_weight_tensor_meta_key_states:
	name = "in_1"
	original_name = "key_states"
	shape = [2, 2, 16, 16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.034
	std = 0.952


class Program_weight_tensor_meta_query_states:
	name = "in_2"
	original_name = "query_states"
	shape = [2, 4, 16, 16]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.023
	std = 0.977


class Program_weight_tensor_meta_sin_2:
	name = "in_3"
	original_name = "sin_2"
	shape = [1, 16, 16]
	dtype = "torch.float32"
	device = "cpu"
	mean = 0.154
	std = 0.414
