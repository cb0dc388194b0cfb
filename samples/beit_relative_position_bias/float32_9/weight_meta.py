class Program_weight_tensor_meta_coords_flatten:
	name = "in_0"
	original_name = "coords_flatten"
	shape = [2, 16]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	data = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]
	max_val = 3
	min_val = 0


class Program_weight_tensor_meta_new_relative_position_bias_table:
	name = "in_1"
	original_name = "new_relative_position_bias_table"
	shape = [52, 2]
	dtype = "torch.float32"
	device = "cpu"
	mean = -0.040
	std = 0.675
