"""A request is read whole or not yet."""

from pathlib import Path

from gui.engine.runs.folder import RunFolder
from gui.engine.runs.requests import ask, read_requests


def test_that_a_request_that_is_being_written_waits(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    ask(run, "stop", "test")
    written = (run.requests / "1.json").read_bytes()
    (run.requests / "1.json").write_bytes(b"")
    assert read_requests(run, set()) == []
    (run.requests / "1.json").write_bytes(written)
    (found,) = read_requests(run, set())
    assert found.request is not None
    assert found.request.request == "stop"


def test_that_a_request_that_cannot_be_read_is_answered(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    run.requests.mkdir()
    (run.requests / "2.json").write_bytes(b"{")
    (run.requests / "3.json").symlink_to("nowhere")
    assert [(each.number, bool(each.problem)) for each in read_requests(run, set())] == [(2, True), (3, True)]
