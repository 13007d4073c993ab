"""The tracer counts what real tensors take: the same operations, byte for byte."""

from __future__ import annotations

import json
import subprocess
import sys
import types
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402, N812
from torch import nn  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

from memory_tracer import families, trace  # noqa: E402
from memory_tracer.building import cast, without_initial_values  # noqa: E402
from memory_tracer.cuda_autocast import cuda_autocast_rules  # noqa: E402
from memory_tracer.cuda_scratch import backward_scratch  # noqa: E402
from memory_tracer.families.base import Family  # noqa: E402
from memory_tracer.optimizers import make_optimizer  # noqa: E402
from memory_tracer.setting import Setting  # noqa: E402
from memory_tracer.steps import trace_steps  # noqa: E402
from memory_tracer.tracker import StorageTracker  # noqa: E402

pytestmark = pytest.mark.torch

PROGRAM = Path(trace.__file__)
COUNT = 1 << 16
"""Numbers in a tensor of the small graphs; large beside what a scalar is rounded to."""


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(64)
        self.qkv = nn.Linear(64, 192)
        self.out = nn.Linear(64, 64)
        self.checkpointing = False

    def body(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, length, 3, 4, width // 4).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, length, width)
        return x + F.silu(self.out(attended))

    def forward(self, x):
        return checkpoint(self.body, x, use_reentrant=False) if self.checkpointing else self.body(x)


class Net(nn.Module):
    """A convolution, some attention, a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 64, 3, padding=1)
        self.group = nn.GroupNorm(8, 64)
        self.blocks = nn.ModuleList([Attention() for _number in range(3)])
        self.last = nn.Conv2d(64, 4, 1)

    def enable_gradient_checkpointing(self) -> None:
        for block in self.blocks:
            block.checkpointing = True

    def forward(self, x):
        h = F.silu(self.group(self.conv(x)))
        batch, channels, height, width = h.shape
        h = h.flatten(2).transpose(1, 2)
        for block in self.blocks:
            h = block(h)
        return self.last(h.transpose(1, 2).reshape(batch, channels, height, width))


class TinyFamily(Family):
    """A family as small as can be, that has all that a step has."""

    adapter_module = "tiny_adapter"

    def build_network(self, setting):
        return Net()

    def predict(self, network, noisy, texts, setting):
        return network(noisy)

    def cached_texts(self, setting):
        return []


@pytest.fixture
def adapter(monkeypatch):
    """Stand in for the trainer's module that makes LoRAs."""

    class Lora(nn.Module):
        def __init__(self, rank, network):
            super().__init__()
            self.down, self.up = nn.Linear(64, rank, bias=False), nn.Linear(rank, 64, bias=False)
            self.network = [network]

        def apply_to(self, encoders, network, with_encoders, with_network):
            layer = network.blocks[0].out
            inner = layer.forward
            layer.forward = lambda x: inner(x) + self.up(self.down(x))

        def prepare_grad_etc(self, encoders, network):
            self.requires_grad_(True)

        def prepare_optimizer_params(self, text_rate, network_rate, rate):
            return [{"params": self.parameters(), "lr": rate}]

    module = types.ModuleType("tiny_adapter")
    module.create_network = lambda scale, rank, alpha, vae, encoders, network, **more: Lora(rank, network)
    monkeypatch.setitem(sys.modules, "tiny_adapter", module)


def two_steps(tracker, checkpointing, autocast):
    """Train for two steps, on real tensors or on fake ones, whatever mode is on."""
    torch.manual_seed(0)
    net = Net()
    if checkpointing:
        net.enable_gradient_checkpointing()
    optimizer = torch.optim.AdamW(net.parameters(), foreach=True)
    with tracker:
        tracker.hold(net.parameters())
        for number in range(2):
            tracker.begin(f"forward_{number}")
            x = torch.ones(2, 4, 16, 16)
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
                loss = net(x).float().pow(2).mean()
            tracker.begin(f"backward_{number}")
            loss.backward()
            del loss
            tracker.begin(f"optimizer_{number}")
            with tracker.scalars_elsewhere():
                nn.utils.clip_grad_norm_(net.parameters(), 1.0, foreach=True)
                optimizer.step()
            optimizer.zero_grad(set_to_none=True)


@pytest.mark.parametrize("checkpointing", [False, True])
@pytest.mark.parametrize("autocast", [False, True])
def test_that_fake_tensors_take_exactly_what_real_ones_take(checkpointing, autocast):
    real, fake = StorageTracker(), StorageTracker()
    with cuda_autocast_rules():
        two_steps(real, checkpointing, autocast)
        with FakeTensorMode():
            two_steps(fake, checkpointing, autocast)
    assert fake.peaks == real.peaks
    assert fake.allocator.reserved_peak == real.allocator.reserved_peak


def of_profiler(graph):
    """Return the most that a backward pass takes on top of what there was, as torch's profiler saw it."""
    weight = torch.ones(COUNT, requires_grad=True)
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as seen:
        loss = graph(weight)
        with torch.profiler.record_function("backward begins"):
            pass
        loss.backward()
    live = begin = peak = 0
    for event in sorted(seen.profiler.kineto_results.events(), key=lambda event: event.start_ns()):
        if event.name() == "backward begins":
            begin = peak = live
        elif event.name() == "[memory]":
            live += event.nbytes()
            peak = max(peak, live)
    return peak - begin


def of_tracker(graph):
    with FakeTensorMode():
        weight = torch.ones(COUNT, requires_grad=True)
        tracker = StorageTracker()
        with tracker:
            tracker.hold([weight])
            loss = graph(weight)
            tracker.begin("backward")
            begin = tracker.live
            loss.backward()
        return tracker.peaks["backward"] - begin


def used_three_times(weight):
    h = weight * 2
    return (h * 3 + h * 4 + h * 5).sum()


def residual(weight):
    h = weight * 2
    for _number in range(3):
        h = h + h.sin()
    return h.sum()


def shared_gradient(weight):
    x, y = weight * 2, weight * 3
    return ((x * 1.5 + y * 2.5) * 0.5 + (x + y) * 2).sum()


@pytest.mark.parametrize("graph", [used_three_times, residual, shared_gradient])
def test_that_gradients_are_added_in_place_where_the_engine_does_so(graph):
    tensor = COUNT * 4
    assert round(of_tracker(graph) / tensor) == round(of_profiler(graph) / tensor)
    assert abs(of_tracker(graph) - of_profiler(graph)) < 16 * 512


def test_that_what_dies_is_free_again():
    tracker = StorageTracker()
    with FakeTensorMode(), tracker:
        first = torch.empty(1000)
        assert tracker.live == 4096
        view = first.view(10, 100)[2:]
        del first
        assert tracker.live == 4096, "a view keeps its storage"
        del view
        assert tracker.live == 0
    assert tracker.allocator.allocated == 0
    assert tracker.allocator.reserved == 2 << 20


def test_that_progress_is_told():
    told = []
    with FakeTensorMode(), StorageTracker(progress=told.append):
        x = torch.empty(1)
        for _number in range(4100):
            x = x + 1
    assert told == [2000, 4000]


def test_that_a_number_read_from_a_tensor_is_the_one_that_was_set():
    tracker = StorageTracker()
    tracker.item = 7
    with FakeTensorMode(), tracker:
        assert torch.ones(3).sum().item() == 7


def test_that_mixed_precision_chooses_as_on_cuda_and_only_while_it_shall():
    half = torch.ones(2, 8, dtype=torch.bfloat16)

    def types_of():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return [
                out.dtype
                for out in (
                    F.layer_norm(half, (8,)),
                    F.softmax(half, dim=-1),
                    half.pow(2),
                    half.sum(),
                    F.mse_loss(half, half),
                    F.linear(torch.ones(2, 8), torch.ones(4, 8)),
                    F.silu(half),
                )
            ]

    fp32, bf16 = torch.float32, torch.bfloat16
    with cuda_autocast_rules():
        assert types_of() == [fp32, fp32, fp32, fp32, fp32, bf16, bf16]
    assert types_of()[:3] == [bf16, bf16, bf16]


def test_that_recomputation_in_the_backward_pass_is_cast_as_well():
    seen = []

    def body(x):
        out = F.layer_norm(x, (8,))
        seen.append(out.dtype)
        return out * out

    with cuda_autocast_rules(), FakeTensorMode():
        x = torch.ones(2, 8, dtype=torch.bfloat16, requires_grad=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = checkpoint(body, x, use_reentrant=False)
        out.sum().backward()
    assert seen == [torch.float32, torch.float32]


def test_that_flash_attention_sums_the_gradient_of_the_query_in_fp32():
    query = torch.empty(2, 8, 100, 40, dtype=torch.bfloat16)
    operation = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default
    assert backward_scratch(operation, (query, query)) == [2 * 8 * 128 * 64 * 4, 2 * 8 * 128 * 4]
    assert backward_scratch(torch.ops.aten.mul.Tensor, (query, query)) == []


def test_that_the_scratch_of_attention_comes_on_top_of_its_gradients():
    with FakeTensorMode():
        query, key, value = (torch.ones(2, 8, 100, 40, requires_grad=True) for _name in "qkv")
        tracker = StorageTracker()
        with tracker:
            loss = F.scaled_dot_product_attention(query, key, value).sum()
            tracker.begin("backward")
            begin = tracker.live
            loss.backward()
    tensor = 2 * 8 * 100 * 40 * 4
    scratch = 2 * 8 * 128 * (64 + 1) * 4
    assert tracker.peaks["backward"] - begin >= 3 * tensor + scratch


def test_that_modules_are_built_without_values_and_cast_to_what_no_module_method_can():
    with FakeTensorMode(), without_initial_values():
        layer = nn.Linear(8, 4)
        layer.register_buffer("count", torch.zeros(1, dtype=torch.long))
        layer.register_buffer("scale", torch.zeros(1))
        layer.weight.requires_grad_(False)
        cast(layer, torch.float8_e4m3fn)
    assert layer.weight.dtype is layer.scale.dtype is torch.float8_e4m3fn
    assert layer.count.dtype is torch.long
    assert (layer.weight.requires_grad, layer.bias.requires_grad) == (False, True)
    assert nn.init.zeros_(torch.ones(1)).item() == 0, "initial values are back"


def traced(**more):
    setting = Setting.of({"family": "tiny", "width_px": 128, "height_px": 128, "weights": "fp32"} | more)
    with cuda_autocast_rules(), FakeTensorMode(allow_non_fake_inputs=True):
        return trace_steps(TinyFamily(), setting, StorageTracker())


def size_of_net(bytes_each):
    return sum(-(-p.numel() * bytes_each // 512) * 512 for p in Net().parameters())


@pytest.mark.parametrize(
    ("optimizer", "bytes_each"), [("AdamW", 8), ("SGDNesterov", 4), ("Prodigy", 16), ("Lion", 4)]
)
def test_that_a_full_training_keeps_weights_gradients_and_states(optimizer, bytes_each):
    result = traced(kind="full", optimizer=optimizer)
    assert result["weights"] == result["gradients"] == size_of_net(4)
    assert result["optimizer_state"] == size_of_net(4) * bytes_each // 4
    assert result["adapter"] == 0
    assert list(result["phases"]) == [
        "load",
        *(f"{phase}_{number}" for number in (1, 2) for phase in ("forward", "backward", "optimizer")),
    ]
    assert result["phases"]["forward_2"] > result["phases"]["forward_1"], "the state is there from then on"
    assert result["peak"] == result["phases"][result["peak_phase"]] == max(result["phases"].values())
    assert result["peak"] <= result["allocated"] <= result["reserved"]


def test_that_8_bit_states_take_a_byte_a_number_and_their_scales():
    weight = nn.Parameter(torch.zeros(64, 1024))
    small = nn.Parameter(torch.zeros(100))
    for parameter in (weight, small):
        parameter.grad = torch.zeros_like(parameter)
    optimizer = make_optimizer("AdamW8bit", [{"params": [weight, small]}])
    optimizer.step()
    optimizer.step()
    kept = [tensor for state in optimizer.state.values() for tensor in state["states"]]
    assert sum(tensor.nbytes for tensor in kept) == 2 * (64 * 1024 + 64 * 1024 // 256 * 4) + 2 * 100 * 4


def test_that_an_unknown_optimizer_is_refused():
    with pytest.raises(ValueError, match="Wonder"):
        make_optimizer("Wonder", [{"params": [nn.Parameter(torch.zeros(1))]}])


def test_that_without_an_optimizer_one_step_is_traced(adapter):
    result = traced(kind="lora", rank=8)
    assert list(result["phases"]) == ["load", "forward_1", "backward_1"]
    assert result["trainable_parameters"] == 2 * 8 * 64
    assert result["adapter"] == result["gradients"] == 2 * 8 * 64 * 4
    assert result["optimizer_state"] == 0
    assert result["weights"] == size_of_net(4)


def test_that_an_adapter_in_16_bits_takes_half(adapter):
    result = traced(kind="lora", rank=8, adapter="bf16", optimizer="AdamW", weights="bf16")
    assert result["adapter"] == 2 * 8 * 64 * 2
    assert result["optimizer_state"] == 2 * 8 * 64 * 4
    assert result["weights"] == size_of_net(2)


def test_that_checkpointing_saves_and_a_larger_batch_costs(adapter):
    kept, recomputed = traced(checkpointing=False), traced(checkpointing=True)
    assert recomputed["peak"] < kept["peak"]
    first, second, third = (traced(checkpointing=False, batch=batch)["peak"] for batch in (1, 2, 3))
    assert third - second == pytest.approx(second - first, rel=0.01)


def test_that_the_same_setting_gives_the_same_bytes(adapter):
    assert traced(optimizer="AdamW") == traced(optimizer="AdamW")


def test_that_the_program_tells_what_happens_line_by_line(tmp_path):
    tasks, results = tmp_path / "tasks.json", tmp_path / "results.jsonl"
    setting = {"family": "nothing of the kind"}
    tasks.write_text(json.dumps({"stages": ["0", "parameters:none"], "settings": {"0": setting}}))
    subprocess.run([sys.executable, str(PROGRAM), str(tasks), str(results)], cwd=tmp_path, check=True)
    lines = [json.loads(line) for line in results.read_text("utf-8").splitlines()]
    assert [(line["stage"], line["state"]) for line in lines] == [
        ("0", "begin"),
        ("0", "failed"),
        ("parameters:none", "begin"),
        ("parameters:none", "failed"),
    ]
    assert lines[1]["error"]["exception"] == "KeyError"


def test_that_a_trace_goes_by_its_family_and_tells_its_progress(adapter, monkeypatch):
    monkeypatch.setitem(families.FAMILIES, "tiny", TinyFamily)
    told = []
    task = {"family": "tiny", "width_px": 128, "height_px": 128, "optimizer": "AdamW", "rank": None}
    result = trace.trace(task, told.append)
    assert result["operations"] >= told[-1] == 2000 * len(told)
