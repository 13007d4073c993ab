"""Each image goes where the trainer's own BucketManager puts it, for 170,000 sizes and settings."""

import json
import subprocess
from pathlib import Path

from bucket_questions import ours, questions, same

HERE = Path(__file__).parent
SETTINGS, IMAGES = 1_700, 100


def test_that_images_go_where_the_trainer_puts_them(real_trainer, tmp_path) -> None:
    asked = questions(7, SETTINGS, IMAGES)
    (tmp_path / "questions.json").write_text(json.dumps(asked), "utf-8")
    words = [
        str(HERE / "bucket_answers.py"),
        str(tmp_path / "questions.json"),
        str(tmp_path / "answers.json"),
    ]
    subprocess.run([str(real_trainer.python), *words], cwd=real_trainer.root, check=True, capture_output=True)
    theirs = json.loads((tmp_path / "answers.json").read_text("utf-8"))
    wrong = [
        (question[:6], image, mine, their)
        for question, answers in zip(asked, theirs, strict=True)
        for image, mine, their in zip(question[6], ours(question), answers, strict=True)
        if not same(mine, their)
    ]
    assert sum(len(answers) for answers in theirs) == SETTINGS * IMAGES
    assert wrong == []
