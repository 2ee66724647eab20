"""`python -m klda` is the command `klda`."""

from klda.cli.app import main

main()
