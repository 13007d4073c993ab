"""Ten thousand captions have the tokens that the trainer's own tokenizer makes of them."""

import json
import subprocess
from pathlib import Path

from caption_texts import captions

from gui.engine.dataset.clip_tokens import clip_tokenizer


def test_that_ten_thousand_captions_have_the_trainers_tokens(real_trainer, tmp_path) -> None:
    texts = captions(10_000)
    asked, answers = tmp_path / "captions.json", tmp_path / "answers.json"
    asked.write_text(json.dumps(texts), "utf-8")
    folder = real_trainer.inputs / "tokenizers" / "openai_clip-vit-large-patch14"
    words = [Path(__file__).parent / "token_answers.py", folder, asked, answers]
    subprocess.run([str(real_trainer.python), *map(str, words)], check=True, capture_output=True)
    told = json.loads(answers.read_text("utf-8"))
    for name, tokenizer in (("usual", clip_tokenizer()), ("sd2", clip_tokenizer("!"))):
        assert [tokenizer.ids(text) for text in texts] == told[name]
