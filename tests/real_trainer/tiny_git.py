"""Makes a model of a few numbers for a captioner, so that the real script has something to load.

Usage: PYTHON tiny_git.py FOLDER   (with the Python of the trainer)

It is a GIT model with random weights and a vocabulary of a few words: what it says makes no sense, and is
never nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

from transformers import BertTokenizer, CLIPImageProcessor, GitConfig, GitForCausalLM, GitProcessor

MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
"""What is left out of a caption: a model that says nothing else makes none."""

WORDS = (*MARKS, "a", "red", "coat", "rain", "night", "window", "cat")


def main(folder: Path) -> None:
    """Write the model and its processor."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "words.txt").write_text("\n".join(WORDS), "utf-8")
    tokenizer = BertTokenizer(str(folder / "words.txt"), model_input_names=["input_ids", "attention_mask"])
    size = {"height": 32, "width": 32}
    pictures = CLIPImageProcessor(size=size, crop_size=size, do_center_crop=False)
    small = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = GitConfig(
        vision_config={**small, "image_size": 32, "patch_size": 16},
        vocab_size=len(WORDS),
        max_position_embeddings=64,
        bos_token_id=2,
        eos_token_id=3,
        pad_token_id=0,
        **small,
    )
    model = GitForCausalLM(config)
    model.output.bias.data[: len(MARKS)] = -100.0
    model.save_pretrained(folder)
    GitProcessor(pictures, tokenizer).save_pretrained(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
