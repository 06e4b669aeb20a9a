"""`python -m letopis`: the command line without an installed script."""

from letopis.cli import main

main()
