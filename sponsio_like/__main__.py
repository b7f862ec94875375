"""`python -m sponsio_like`: the command line, where its script is not on the path."""

from sponsio_like.cli import main

if __name__ == "__main__":
    main()
