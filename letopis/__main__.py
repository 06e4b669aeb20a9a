"""Where the `letopis` command starts: `python -m letopis` is the same."""

import sys

INTERRUPTED = 130


def main() -> None:
    """Load the commands and run one; Ctrl-C while they load ends without a traceback."""
    try:
        from letopis.cli import main as run
    except KeyboardInterrupt:
        print("interrupted before anything was done", file=sys.stderr)  # noqa: T201
        sys.exit(INTERRUPTED)
    run()


if __name__ == "__main__":
    main()
