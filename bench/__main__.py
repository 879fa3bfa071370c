"""``python -m bench``: the command line without the installed command."""

from bench.cli import main

if __name__ == "__main__":
    main()
