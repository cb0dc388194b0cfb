"""Runs one graph in Python, as eager or through torch.compile, for a bench that asks over pipes.

The bench (src/bench/peer.cpp) starts it, writes one JSON request a line and reads one JSON answer a line:
  {"op": "load", "model": text, "kind": "eager" | "inductor", "mode": ..., "device": ...}
  {"op": "run", "inputs": [tensor, ...], "folder": where outputs go}   -> {"value": ..., "inputs": [tensor, ...]}
  {"op": "hold", "inputs": [...], "changing": [...]}                   the inputs of the calls that are timed
  {"op": "trials", "count": n, "cold": whether a GPU's cache is emptied before each, "events": whether its clock is read}
                                                                                            -> {"ms": [...], "gpu_ms": [...]}
  {"op": "threads", "count": n}
A tensor is {"file", "shape", "dtype"}: its elements in row-major order. An answer with "error" says what went wrong.
"""
import json
import mmap
import os
import sys
import time

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # whatever libraries print goes to stderr

import torch  # noqa: E402

SEED = 1024
LARGE_PAGE = 2 << 20


def read(tensor, device):
    dtype = getattr(torch, tensor["dtype"])
    count = 1
    for size in tensor["shape"]:
        count *= size
    if count == 0:
        return torch.empty(tensor["shape"], dtype=dtype, device=device)
    return torch.from_file(tensor["file"], size=count, dtype=dtype).clone().reshape(tensor["shape"]).to(device)


def kept(tensor):
    """A copy that lies where the bench keeps what it times: on large pages (src/exec/aten/large_pages.cpp)."""
    size = tensor.numel() * tensor.element_size()
    if tensor.device.type != "cpu" or size < LARGE_PAGE:
        return tensor.clone()
    room = mmap.mmap(-1, size + 2 * LARGE_PAGE)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        room.madvise(mmap.MADV_HUGEPAGE)
    offset = -torch.frombuffer(room, dtype=torch.uint8).data_ptr() % LARGE_PAGE
    return torch.frombuffer(room, dtype=tensor.dtype, count=tensor.numel(), offset=offset).view(tensor.shape).copy_(tensor)


def write(tensor, path):
    flat = tensor.detach().to("cpu").contiguous()
    with open(path, "wb") as file:
        if flat.numel():
            file.write(flat.flatten().view(torch.uint8).numpy().tobytes())
    return {"file": path, "shape": list(tensor.shape), "dtype": str(tensor.dtype).replace("torch.", "")}


class Peer:
    scratch = None

    def load(self, request):
        self.device = request["device"]
        scope = {}
        source = request["model"].replace("device(type='cuda'", f"device(type='{self.device}'")
        exec(compile(source, "model.py", "exec"), scope)
        model = scope["GraphModule"]()
        if request["kind"] == "inductor":
            mode = request["mode"]
            torch._dynamo.reset()
            model = torch.compile(model, mode=None if mode == "default" else mode)
        self.model = model
        return {}

    def threads(self, request):
        torch.set_num_threads(request["count"])
        return {}

    def call(self, inputs):
        return self.model(*inputs)

    def value(self, value, folder, files):
        if isinstance(value, torch.Tensor):
            files.append(None)
            return {"tensor": write(value, f"{folder}/output_{len(files)}")}
        if isinstance(value, (tuple, list)):
            return {"list": [self.value(item, folder, files) for item in value]}
        if value is None or isinstance(value, (bool, int, float, str)):
            return {"plain": value}
        return {"text": repr(value)}

    def run(self, request):
        inputs = [read(t, self.device) for t in request["inputs"]]
        torch.manual_seed(SEED)
        value = self.call(inputs)
        folder = request["folder"]
        return {
            "value": self.value(value, folder, []),
            "inputs": [write(t, f"{folder}/changed_{i}") for i, t in enumerate(inputs)],
        }

    def hold(self, request):
        self.originals = [read(t, self.device) for t in request["inputs"]]
        self.inputs = [kept(t) for t in self.originals]
        self.changing = request["changing"]
        return {}

    def flush(self):
        """Empties a GPU's second-level cache: twice its size is written."""
        if self.scratch is None:
            size = max(2 * torch.cuda.get_device_properties(0).L2_cache_size, 64 << 20)
            self.scratch = torch.empty(size // 4, dtype=torch.int32, device=self.device)
        self.scratch.zero_()

    def trials(self, request):
        ms, gpu_ms, cuda = [], [], self.device != "cpu"
        for _ in range(request["count"]):
            for i in self.changing:
                self.inputs[i].copy_(self.originals[i])
            torch.manual_seed(SEED)
            if cuda:
                events = [torch.cuda.Event(enable_timing=True) for _ in range(2)] if request["events"] else []
                if request["cold"]:
                    self.flush()
                torch.cuda.synchronize()
                if events:
                    events[0].record()
                start = time.perf_counter()
                result = self.call(self.inputs)
                if events:
                    events[1].record()
                torch.cuda.synchronize()
                ms.append((time.perf_counter() - start) * 1e3)
                if events:
                    gpu_ms.append(events[0].elapsed_time(events[1]))
            else:
                start = time.perf_counter()
                result = self.call(self.inputs)
                ms.append((time.perf_counter() - start) * 1e3)
            del result
        return {"ms": ms, "gpu_ms": gpu_ms}


def main():
    peer = Peer()
    with torch.no_grad():
        for line in sys.stdin:
            request = json.loads(line)
            try:
                answer = getattr(peer, request["op"])(request)
            except Exception as error:
                answer = {"error": f"{type(error).__name__}: {str(error)[:2000]}"}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


main()
