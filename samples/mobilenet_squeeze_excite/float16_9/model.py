import torch

class GraphModule(torch.nn.Module):
    
    
    
    def forward(self, in_0 : torch.Tensor, in_1 : torch.Tensor, in_2 : torch.Tensor, in_3 : torch.Tensor, in_4 : torch.Tensor, in_5 : torch.Tensor, in_6 : torch.Tensor, in_7 : torch.Tensor, in_8 : torch.Tensor, in_9 : torch.Tensor, in_10 : torch.Tensor, in_11 : torch.Tensor, in_12 : torch.Tensor, in_13 : torch.Tensor, in_14 : torch.Tensor, in_15 : torch.Tensor):
        conv2d = torch.conv2d(in_15, in_0, None, (1, 1), (1, 1), (1, 1), 64);  in_15 = in_0 = None
        tmp_15 = torch.nn.functional.batch_norm(conv2d, in_1, in_2, in_4, in_3, False, 0.1, 1e-05);  conv2d = in_1 = in_2 = in_4 = in_3 = None
        tmp_16 = torch.nn.functional.hardswish(tmp_15, False);  tmp_15 = None
        tmp_17 = torch.nn.functional.adaptive_avg_pool2d(tmp_16, 1)
        conv2d_1 = torch.conv2d(tmp_17, in_11, in_10, (1, 1), (0, 0), (1, 1), 1);  tmp_17 = in_11 = in_10 = None
        tmp_19 = torch.nn.functional.relu(conv2d_1, inplace = False);  conv2d_1 = None
        conv2d_2 = torch.conv2d(tmp_19, in_13, in_12, (1, 1), (0, 0), (1, 1), 1);  tmp_19 = in_13 = in_12 = None
        tmp_21 = torch.nn.functional.hardsigmoid(conv2d_2, False);  conv2d_2 = None
        tmp_22 = tmp_21 * tmp_16;  tmp_21 = tmp_16 = None
        conv2d_3 = torch.conv2d(tmp_22, in_5, None, (1, 1), (0, 0), (1, 1), 1);  tmp_22 = in_5 = None
        tmp_24 = torch.nn.functional.batch_norm(conv2d_3, in_6, in_7, in_9, in_8, False, 0.1, 1e-05);  conv2d_3 = in_6 = in_7 = in_9 = in_8 = None
        tmp_25 = in_14 + tmp_24;  in_14 = tmp_24 = None
        return (tmp_25,)
        