"""Makes a checkout with a captioner that needs no weights: laid out, called and writing like the real one.

The weights of the real ones come from a hub that tests cannot reach. What is real in these tests is all but
the model: the command, the process and its supervision, the scratch folder, what is written and where. The
words of a caption here tell the picture's size and colour.
"""

from __future__ import annotations

from pathlib import Path

from fake_trainers import make_checkout

SCRIPT = """
import argparse, os, sys, time
from pathlib import Path

import library.train_util
from PIL import Image


def main(args):
    if args.repo_id == "no/such" or args.undesired_tags == "fail now":
        raise OSError("We could not connect to the hub to load this file")
    paths = sorted(path for path in Path(args.train_data_dir).glob("*") if path.suffix != ".txt")
    print(f"found {len(paths)} images.", file=sys.stderr, flush=True)
    import onnx
    for number, path in enumerate(paths):
        if number == 1 and (args.repo_id == "slow/one" or args.undesired_tags == "hang now"):
            time.sleep(600)
        image = Image.open(path).convert("RGB")
        red = image.resize((1, 1)).getpixel((0, 0))[0]
        tags = [f"{image.width}x{image.height}", "red_sky" if red > 127 else "dark_night"]
        tags = [tag.replace("_", " ") if args.remove_underscore else tag for tag in tags]
        tags = [tag for tag in tags if tag not in args.undesired_tags.split(",")]
        with open(os.path.splitext(str(path))[0] + args.caption_extension, "wt", encoding="utf-8") as file:
            file.write(", ".join(tags) + "\\n")
    print("done!", file=sys.stderr)


def setup_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("train_data_dir", type=str, help="directory for train images")
    parser.add_argument("--repo_id", type=str, default="some/tagger", help="repo id for wd14 tagger")
    parser.add_argument("--model_dir", type=str, default="wd14_tagger_model")
    parser.add_argument("--batch_size", type=int, default=1, help="batch size in inference")
    parser.add_argument("--max_data_loader_n_workers", type=int, default=None)
    parser.add_argument("--output_path", type=str, default=None)
    parser.add_argument("--caption_extension", type=str, default=".txt")
    parser.add_argument("--thresh", type=float, default=0.35, help="threshold of confidence to add a tag")
    parser.add_argument("--undesired_tags", type=str, default="")
    parser.add_argument("--remove_underscore", action="store_true")
    parser.add_argument("--recursive", action="store_true")
    parser.add_argument("--onnx", action="store_true")
    return parser


if __name__ == "__main__":
    main(setup_parser().parse_args())
"""


def captioning_checkout(root: Path, *, packages: bool = True) -> Path:
    """Make such a checkout.

    Args:
        root: Its folder.
        packages: Whether it has what the tagger needs.
    """
    make_checkout(root)
    (root / "library" / "train_util.py").touch()
    (root / "finetune").mkdir()
    (root / "finetune" / "tag_images_by_wd14_tagger.py").write_text(SCRIPT, "utf-8")
    for name in ("onnx", "onnxruntime") if packages else ():
        (root / f"{name}.py").touch()
    return root
