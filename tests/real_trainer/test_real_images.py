"""What the dataset doctor calls fatal ends a training, what it calls harmless does not."""

import json
import subprocess
from pathlib import Path

from dataset_maker import faulty_dataset, ignored_files

from gui.engine.dataset.doctor import Doctor
from gui.engine.dataset.spec import DatasetSpec, SubsetSpec


def test_that_the_trainer_stops_at_exactly_what_is_called_a_stop(real_trainer, tmp_path) -> None:
    folder = tmp_path / "faulty"
    faulty_dataset(folder)
    ignored = ignored_files(folder)
    (folder / "folder.png").mkdir()
    words = [str(Path(__file__).parent / "reader_answers.py"), str(folder), str(tmp_path / "answers.json")]
    subprocess.run([str(real_trainer.python), *words], cwd=real_trainer.root, check=True, capture_output=True)
    answers = json.loads((tmp_path / "answers.json").read_text("utf-8"))

    doctor = Doctor(DatasetSpec((SubsetSpec("dataset.subsets.0", "dataset", folder),)), None, 2)
    for _batch in doctor.batches():
        pass
    problems = doctor.report().subsets[0].problems
    doctor.close()
    stops = {name for problem in problems if problem.severity == "stop" for name in problem.names}
    assert stops == {name for name, said in answers.items() if isinstance(said, str) and said != "not listed"}
    assert ignored == {name for name, said in answers.items() if said == "not listed"}
    assert answers["sixteen.png"] > 250  # white, as is said of it
