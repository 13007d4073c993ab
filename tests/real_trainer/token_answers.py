"""Lets the trainer's own tokenizer count captions; run by its Python.

Usage: PYTHON token_answers.py TOKENIZER_FOLDER CAPTIONS.json ANSWERS.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(folder: str, captions: Path, answers: Path) -> None:
    """Answer with the tokens of each caption, for the usual pad token and that of Stable Diffusion 2."""
    from transformers import CLIPTokenizer

    texts = json.loads(captions.read_text("utf-8"))
    found = {}
    for name, more in (("usual", {}), ("sd2", {"pad_token": "!"})):
        tokenizer = CLIPTokenizer.from_pretrained(folder, **more)
        found[name] = [tokenizer(text).input_ids[1:-1] for text in texts]
    answers.write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
