"""The families of models that can be traced."""

from __future__ import annotations

from memory_tracer.families.anima import Anima
from memory_tracer.families.base import Family
from memory_tracer.families.flux import Chroma, Flux
from memory_tracer.families.hunyuan import HunyuanImage
from memory_tracer.families.lumina import Lumina2
from memory_tracer.families.sd3 import StableDiffusion3, StableDiffusion35Large, StableDiffusion35Medium
from memory_tracer.families.unets import StableDiffusion1, StableDiffusion2, StableDiffusionXl

FAMILIES: dict[str, type[Family]] = {
    "sd15": StableDiffusion1,
    "sd2": StableDiffusion2,
    "sdxl": StableDiffusionXl,
    "sd3": StableDiffusion3,
    "sd35-medium": StableDiffusion35Medium,
    "sd35-large": StableDiffusion35Large,
    "flux1": Flux,
    "chroma": Chroma,
    "lumina2": Lumina2,
    "anima": Anima,
    "hunyuan-image": HunyuanImage,
}
"""By the names that the program's families have."""
