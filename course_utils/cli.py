"""`course …`: the one entry point of the command line."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from course_utils import __version__, places


def _lab(args: argparse.Namespace, extra: list[str]) -> int:
    from course_utils import shop

    print(f"The shop is ready: {shop.path()}")
    root = places.root()
    first = root / "lessons" / "00_start_here.ipynb"
    command = [sys.executable, "-m", "jupyterlab", str(first), f"--ServerApp.root_dir={root}", *extra]
    # .jupyter/ switches off the question about news, which wants a network.
    paths = [str(root / ".jupyter"), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    # A terminal in JupyterLab finds `course` although the environment was never activated.
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = os.environ | {"JUPYTER_CONFIG_PATH": os.pathsep.join(paths), "PATH": tools}
    try:
        return subprocess.call(command, env=environment)
    except KeyboardInterrupt:
        return 0


def _shop_build(args: argparse.Namespace, extra: list[str]) -> int:
    from tqdm import tqdm

    from course_utils import shop

    size: str | float = args.size if args.size in {"tiny", "course"} else float(args.size)
    seed = {} if args.seed is None else {"seed": args.seed}
    with tqdm(unit=" orders", disable=None) as bar:

        def tell(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        made = shop.build(Path(args.out), size=size, progress=tell, **seed)
    counts = shop.counts(made)
    print(
        f"{made}: " + ", ".join(f"{counts[name]:,} {name}" for name in ("customers", "orders", "order_items"))
    )
    return 0


def _carrier_serve(args: argparse.Namespace, extra: list[str]) -> int:
    from course_utils.shop import carrier

    carrier.serve(carrier.PORT if args.port is None else args.port)
    return 0


def _build(args: argparse.Namespace, extra: list[str]) -> int:
    from course_utils.teaching import build

    try:
        stale = [] if args.only else build.embed(check=args.check)
        stale += build.build(check=args.check, only=args.only)
    except build.NotebookFailed as error:
        print(error)
        return 1
    for item in stale:
        word = "stale" if args.check else "rebuilt"
        print(f"{word}: {item.path.relative_to(places.root()).as_posix()}: {item.why}")
    if not stale:
        print("everything is what its source says")
    elif args.check:
        print("Run `course build` and commit what it writes.")
    return 1 if stale and args.check else 0


def _start(args: argparse.Namespace, extra: list[str]) -> int:
    from course_utils.teaching.start import start

    for copy, made in start(args.exercise):
        print(f"{'copied to' if made else 'already there, left as it is:'} {copy}")
    return 0


def _doctor(args: argparse.Namespace, extra: list[str]) -> int:
    from course_utils.teaching import doctor

    results = doctor.examine()
    for result in results:
        print(result)
    return 0 if all(result.ok for result in results) else 1


def _progress(args: argparse.Namespace, extra: list[str]) -> int:
    from course_utils.teaching import progress

    print(progress.show())
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of `course`; each sub-command holds its function in `run`."""
    top = argparse.ArgumentParser(prog="course", description="The retrieval course on the command line.")
    top.add_argument("--version", action="version", version=__version__)
    commands = top.add_subparsers(required=True, metavar="command")

    def add(name: str, run, help: str, within=commands) -> argparse.ArgumentParser:
        command = within.add_parser(name, help=help, description=help)
        command.set_defaults(run=run)
        return command

    add("lab", _lab, "Open JupyterLab on the first lesson; further arguments go to `jupyter lab`.")
    start = add("start", _start, "Copy exercises into my_work/, where no update overwrites them.")
    start.add_argument("exercise", nargs="?", default="", help="how its name starts, such as 01")
    add("doctor", _doctor, "Say whether this machine is ready, and what to do where it is not.")
    add("progress", _progress, "Show which tasks are passed.")
    shop = commands.add_parser("shop", help="Build a shop database.").add_subparsers(
        required=True, metavar="what"
    )
    shop_build = add("build", _shop_build, "Build the shop at a size of your choice.", shop)
    shop_build.add_argument(
        "--size", default="course", help="tiny, course, or a factor such as 100 (500,000 orders)"
    )
    shop_build.add_argument("--out", required=True, help="the file to write")
    shop_build.add_argument("--seed", type=int, help="another seed gives another shop")
    service = commands.add_parser("carrier", help="Run the carrier's JSON service.").add_subparsers(
        required=True, metavar="what"
    )
    serve = add("serve", _carrier_serve, "Serve the carrier's data on this machine until Ctrl-C.", service)
    serve.add_argument("--port", type=int, help="its port (0 takes any that is free)")
    build = add("build", _build, "For authors: run lessons and solutions, make exercises from solutions.")
    build.add_argument("--check", action="store_true", help="write nothing, say what is stale")
    build.add_argument("--only", default="", help="only notebooks whose name contains this")
    return top


def main(argv: list[str] | None = None) -> int:
    """Run `course` with `argv` (the process's own arguments by default); return the exit code.

    Errors that a person can act on are printed without a traceback; exit code 2.
    """
    top = parser()
    args, extra = top.parse_known_args(argv)
    if extra and args.run is not _lab:
        top.error(f"unrecognised arguments: {' '.join(extra)}")
    try:
        return args.run(args, extra)
    except (OSError, LookupError, ValueError, RuntimeError) as error:
        print(f"course: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
