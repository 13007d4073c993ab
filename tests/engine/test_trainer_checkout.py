"""A checkout tells its commit, version and scripts without git."""

import json

import pytest

from gui.engine.trainer.checkout import card_of, commit_of, is_checkout, training_scripts, version_of

COMMIT = "48d368fa557731ad0488c07304dfeba8c07910eb"
OTHER = "0" * 40


def make_git(folder, head=f"{COMMIT}\n", **files):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "HEAD").write_text(head)
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_", "-")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


def test_that_a_detached_head_is_read(tmp_path):
    make_git(tmp_path / ".git")
    assert commit_of(tmp_path) == COMMIT


def test_that_a_branch_is_followed_to_a_loose_ref(tmp_path):
    make_git(tmp_path / ".git", "ref: refs/heads/main\n", refs__heads__main=f"{COMMIT}\n")
    assert commit_of(tmp_path) == COMMIT


def test_that_a_branch_is_followed_to_packed_refs(tmp_path):
    packed = f"# pack-refs with: peeled\n{OTHER} refs/heads/main2\n{COMMIT} refs/heads/main\n"
    make_git(tmp_path / ".git", "ref: refs/heads/main\n", packed_refs=packed)
    assert commit_of(tmp_path) == COMMIT


def test_that_a_submodule_is_followed_to_its_folder(tmp_path):
    make_git(tmp_path / ".git" / "modules" / "sd-scripts")
    root = tmp_path / "sd-scripts"
    root.mkdir()
    (root / ".git").write_text("gitdir: ../.git/modules/sd-scripts\n")
    assert commit_of(root) == COMMIT


def test_that_a_worktree_finds_its_branch_in_the_common_folder(tmp_path):
    main = make_git(tmp_path / "main" / ".git", refs__heads__dev=f"{COMMIT}\n")
    linked = make_git(main / "worktrees" / "dev", "ref: refs/heads/dev\n", commondir="../..\n")
    root = tmp_path / "dev"
    root.mkdir()
    (root / ".git").write_text(f"gitdir: {linked}\n")
    assert commit_of(root) == COMMIT


@pytest.mark.parametrize("head", ["", "ref: refs/heads/gone\n", "not a commit\n", "\xff\xfe"])
def test_that_a_strange_head_is_no_commit(tmp_path, head):
    make_git(tmp_path / ".git", head)
    assert commit_of(tmp_path) is None


@pytest.mark.parametrize("pointer", [None, "", "gitdir: nowhere\n", "something else\n"])
def test_that_a_folder_without_git_has_no_commit(tmp_path, pointer):
    if pointer is not None:
        (tmp_path / ".git").write_text(pointer)
    assert commit_of(tmp_path) is None
    assert version_of(tmp_path, COMMIT) is None


def test_that_the_version_comes_from_the_newest_announcement(tmp_path):
    (tmp_path / "README.md").write_text(
        "Install PyTorch version 2.6.0\n- **Version 0.10.1 (2026-02-13):**\n- **Version 0.10.0:**\n"
    )
    assert version_of(tmp_path) == "0.10.1"


def test_that_a_tag_on_the_commit_wins_over_the_readme(tmp_path):
    (tmp_path / "README.md").write_text("## Version 0.10.1\n")
    make_git(tmp_path / ".git", packed_refs=f"{OTHER} refs/tags/v0.9.1\n^{COMMIT}\n{OTHER} refs/heads/x\n")
    assert version_of(tmp_path, COMMIT) == "0.9.1"
    assert version_of(tmp_path, OTHER) == "0.9.1"
    assert version_of(tmp_path, "1" * 40) == "0.10.1"


def test_that_a_loose_tag_is_known(tmp_path):
    make_git(tmp_path / ".git", **{"refs__tags__v0.9.0": COMMIT, "refs__tags__latest": COMMIT})
    assert version_of(tmp_path, COMMIT) == "0.9.0"


def test_that_a_trainers_card_is_read_tolerantly(tmp_path):
    assert card_of(tmp_path).name == "sd-scripts"
    (tmp_path / "TRAINER.json").write_text(json.dumps({"name": "practice", "label": "A", "more": 1}))
    assert (card_of(tmp_path).name, card_of(tmp_path).label) == ("practice", "A")
    (tmp_path / "TRAINER.json").write_text(json.dumps({"name": "x", "version": "3"}))
    assert version_of(tmp_path) == "3"
    for broken in ("{", "[]", '{"name": 5}', "5"):
        (tmp_path / "TRAINER.json").write_text(broken)
        assert card_of(tmp_path).name == "sd-scripts"


def test_that_training_scripts_are_told_from_the_rest(tmp_path):
    parser = "import argparse\n\n\ndef setup_parser():\n    pass\n"
    for name in ("train_network", "fine_tune", "sdxl_train", "gen_img", "train_old", "train_x_XTI"):
        (tmp_path / f"{name}.py").write_text(parser)
    (tmp_path / "train_controlnet.py").write_text("from train_control_net import setup_parser\n")
    (tmp_path / "train_latin.py").write_bytes(b"# \xe9\n" + parser.encode())
    assert training_scripts(tmp_path) == (
        "fine_tune.py",
        "sdxl_train.py",
        "train_latin.py",
        "train_network.py",
    )
    assert not is_checkout(tmp_path)
    (tmp_path / "library").mkdir()
    assert is_checkout(tmp_path)
