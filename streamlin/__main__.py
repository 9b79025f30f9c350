"""`python -m streamlin`: the command `streamlin`."""

from streamlin.cli import main

if __name__ == "__main__":
    main()
