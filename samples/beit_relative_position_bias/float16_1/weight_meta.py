class Program_weight_tensor_meta_coords_flatten:
	name = "in_0"
	original_name = "coords_flatten"
	shape = [2, 36]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	max_val = 5
	min_val = 0


class Program_weight_tensor_meta_new_relative_position_bias_table:
	name = "in_1"
	original_name = "new_relative_position_bias_table"
	shape = [124, 2]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.040
	std = 0.654
