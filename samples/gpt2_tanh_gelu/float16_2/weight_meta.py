class Program_weight_tensor_meta_x_5:
	name = "in_0"
	original_name = "x_5"
	shape = [3, 40, 256]
	dtype = "torch.float16"
	device = "cpu"
	mean = -0.050
	std = 0.894
