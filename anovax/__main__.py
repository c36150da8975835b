"""``python -m anovax`` is the same as ``anovax``."""

from anovax.cli import main

if __name__ == "__main__":
    main()
