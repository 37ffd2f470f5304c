"""``python -m screentest`` is the ``screentest`` command."""

from screentest.cli.main import main

if __name__ == "__main__":
    main()
