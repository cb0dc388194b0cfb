class Program_weight_tensor_meta_L_kwargs_attention_mask_:
	name = "in_0"
	original_name = "L_kwargs_attention_mask_"
	shape = [3, 40]
	dtype = "torch.int64"
	device = "cpu"
	mean = None
	std = None
	max_val = 1
	min_val = 0
