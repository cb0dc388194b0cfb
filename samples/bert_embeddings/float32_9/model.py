import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7):
        tmp_0 = in_0
        tmp_1 = in_1
        tmp_2 = in_2
        tmp_3 = in_3
        tmp_4 = in_4
        tmp_5 = in_5
        tmp_6 = in_6
        tmp_7 = in_7
        tmp_8 = tmp_1[slice(None, None, None), slice(0, 16, None)]
        tmp_1 = None
        tmp_9 = tmp_2.expand(1, -1)
        tmp_2 = None
        tmp_10 = torch.gather(tmp_9, dim=1, index=tmp_8)
        tmp_9 = None
        tmp_11 = tmp_10.expand(2, 16)
        tmp_10 = None
        tmp_12 = torch.nn.functional.embedding(tmp_0, tmp_7, 0, None, 2.0, False, False)
        tmp_0 = tmp_7 = None
        tmp_13 = torch.nn.functional.embedding(tmp_11, tmp_6, None, None, 2.0, False, False)
        tmp_11 = tmp_6 = None
        tmp_14 = tmp_12 + tmp_13
        tmp_12 = tmp_13 = None
        tmp_15 = torch.nn.functional.embedding(tmp_8, tmp_5, None, None, 2.0, False, False)
        tmp_8 = tmp_5 = None
        tmp_16 = tmp_14 + tmp_15
        tmp_14 = tmp_15 = None
        tmp_17 = torch.nn.functional.layer_norm(tmp_16, (64,), tmp_4, tmp_3, 1e-12)
        tmp_16 = tmp_4 = tmp_3 = None
        tmp_18 = torch.nn.functional.dropout(tmp_17, 0.1, False, False)
        tmp_17 = None
        return (tmp_18,)