"""The architectures that can be captured: one row each, built from a configuration, never downloaded.

In: a row's name, a variant of its sizes and a seed. Out: an `Example`: the module in eval mode with random weights, and the
keyword arguments of one call. Nothing reads a checkpoint, so the same versions of torch and transformers give the same bytes.
"""
from dataclasses import dataclass

import torch
import transformers as hf
from transformers.models.whisper.modeling_whisper import WhisperEncoder

from . import networks

RECORDED = 9  # the variant that keeps the recorded sizes; 0..8 are other sizes of the same model

TEXT = {9: dict(batch=2, length=16), 0: dict(batch=1, length=8), 1: dict(batch=4, length=12), 2: dict(batch=3, length=40)}
IMAGE = {9: dict(batch=1, pixels=32), 0: dict(batch=2, pixels=32), 1: dict(batch=1, pixels=48)}
AUDIO = {9: dict(batch=2, frames=48), 0: dict(batch=1, frames=64), 1: dict(batch=3, frames=40)}
EDGES = {9: dict(nodes=20, edges=28), 0: dict(nodes=12, edges=24), 1: dict(nodes=96, edges=300)}


@dataclass
class Example:
    name: str
    source: str  # the library the model comes from
    tag: str  # nlp, computer_vision, audio or other
    module: torch.nn.Module
    inputs: dict
    sizes: dict

    @property
    def model_name(self):
        return type(self.module).__name__


def token_ids(size):
    return torch.randint(1, 100, (size["batch"], size["length"]))


def padding_mask(size):
    """Row i has i padded positions at its end, as a batch of sentences has."""
    lengths = size["length"] - torch.arange(size["batch"])
    return (torch.arange(size["length"])[None] < lengths[:, None]).long()


def text_inputs(size):
    return dict(input_ids=token_ids(size), attention_mask=padding_mask(size))


def token_inputs(size):
    return dict(input_ids=token_ids(size))


def image_inputs(size):
    return dict(pixel_values=torch.randn(size["batch"], 3, size["pixels"], size["pixels"]))


def decoder_config(cls, **more):
    """Llama and its relatives: four query heads on two key heads."""
    return cls(vocab_size=128, hidden_size=64, num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=2, intermediate_size=160,
               max_position_embeddings=64, attn_implementation="eager", use_cache=False, **more)


def bert(size):
    return hf.BertModel(hf.BertConfig(vocab_size=128, hidden_size=64, num_hidden_layers=1, num_attention_heads=4, intermediate_size=160,
                                      max_position_embeddings=64, attn_implementation="eager"))


def gpt2(size):
    return hf.GPT2Model(hf.GPT2Config(vocab_size=128, n_embd=64, n_layer=1, n_head=4, n_positions=64, attn_implementation="eager", use_cache=False))


def llama(size):
    return hf.LlamaModel(decoder_config(hf.LlamaConfig))


def qwen2(size):
    return hf.Qwen2Model(decoder_config(hf.Qwen2Config))


def t5(size):
    return hf.T5EncoderModel(hf.T5Config(vocab_size=128, d_model=64, d_kv=16, d_ff=128, num_layers=1, num_heads=4, feed_forward_proj="gated-gelu"))


def whisper(size):
    return WhisperEncoder(hf.WhisperConfig(vocab_size=128, d_model=64, num_mel_bins=20, encoder_layers=1, encoder_attention_heads=4,
                                           encoder_ffn_dim=128, max_source_positions=size["frames"] // 2, attn_implementation="eager"))


def vit(size):
    return hf.ViTModel(hf.ViTConfig(hidden_size=64, num_hidden_layers=1, num_attention_heads=4, intermediate_size=128, image_size=40, patch_size=8,
                                    attn_implementation="eager"))


def swin(size):
    return hf.SwinModel(hf.SwinConfig(image_size=size["pixels"], patch_size=2, embed_dim=16, depths=[2, 1], num_heads=[2, 4], window_size=4))


def beit(size):
    return hf.BeitModel(hf.BeitConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, image_size=size["pixels"],
                                      patch_size=8, use_relative_position_bias=True, attn_implementation="eager"))


def convnext(size):
    return hf.ConvNextModel(hf.ConvNextConfig(hidden_sizes=[24, 48], depths=[1, 1], num_stages=2))


def mamba(size):
    return hf.MambaModel(hf.MambaConfig(vocab_size=128, hidden_size=32, state_size=8, num_hidden_layers=1, use_cache=False))


# name: (source, tag, sizes, builder, inputs)
ARCHITECTURES = {
    "bert": ("transformers", "nlp", TEXT, bert, text_inputs),
    "gpt2": ("transformers", "nlp", TEXT, gpt2, text_inputs),
    "llama": ("transformers", "nlp", TEXT, llama, text_inputs),
    "qwen2": ("transformers", "nlp", TEXT, qwen2, token_inputs),
    "t5": ("transformers", "nlp", TEXT, t5, text_inputs),
    "mamba": ("transformers", "nlp", TEXT, mamba, token_inputs),
    "whisper": ("transformers", "audio", AUDIO, whisper, lambda s: dict(input_features=torch.randn(s["batch"], 20, s["frames"]))),
    "vit": ("transformers", "computer_vision", IMAGE, vit, lambda s: dict(image_inputs(s), interpolate_pos_encoding=True)),
    "swin": ("transformers", "computer_vision", IMAGE, swin, image_inputs),
    "beit": ("transformers", "computer_vision", IMAGE, beit, image_inputs),
    "convnext": ("transformers", "computer_vision", IMAGE, convnext, image_inputs),
    "resnet": ("torch.nn", "computer_vision", IMAGE, lambda s: networks.ResidualNet(), lambda s: dict(x=image_inputs(s)["pixel_values"])),
    "mobilenet": ("torch.nn", "computer_vision", IMAGE, lambda s: networks.MobileNet(), lambda s: dict(x=image_inputs(s)["pixel_values"])),
    "edgenet": ("torch.nn", "other", EDGES, lambda s: networks.EdgeNet(),
                lambda s: dict(x=torch.randn(s["nodes"], 32), edge_index=torch.randint(0, s["nodes"], (2, s["edges"])))),
}


@torch.no_grad()
def randomise(module):
    """Trained-looking weights: a fresh model has constant norms and biases, which would hide a pass that drops or swaps them."""
    for parameter in module.parameters():
        if parameter.dim() <= 1:
            parameter.add_(torch.randn(parameter.shape) * 0.25)
        else:
            fan_in = parameter.numel() // parameter.shape[0]
            parameter.copy_(torch.randn(parameter.shape) * max(0.1, fan_in**-0.5))
    for name, buffer in module.named_buffers():
        if name.endswith("running_mean"):
            buffer.copy_(torch.randn(buffer.shape) * 0.25)
        elif name.endswith("running_var"):
            buffer.copy_(torch.rand(buffer.shape) + 0.5)


def build(name, variant=RECORDED, seed=0):
    source, tag, sizes, builder, inputs = ARCHITECTURES[name]
    torch.manual_seed(seed)
    module = builder(sizes[variant]).eval()
    randomise(module)
    return Example(name, source, tag, module, inputs(sizes[variant]), sizes[variant])
