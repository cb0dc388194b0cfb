"""python -m passnet_extract ARCHITECTURE [--variant N]: the operators of an architecture, numbered as [start, end) counts them."""
import argparse
import os

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

from . import architectures, capture  # noqa: E402


def main():
    parser = argparse.ArgumentParser(prog="passnet_extract", description=__doc__)
    parser.add_argument("architecture", choices=sorted(architectures.ARCHITECTURES))
    parser.add_argument("--variant", type=int, default=architectures.RECORDED)
    options = parser.parse_args()
    example = architectures.build(options.architecture, options.variant)
    for index, captured in enumerate(capture.capture(example)):
        for number, node in enumerate(captured.operators):
            target = node.target if isinstance(node.target, str) else node.target.__name__
            print(f"{index} {number:4} {node.name} = {target}{node.args} {node.kwargs or ''}".rstrip())


if __name__ == "__main__":
    main()
