"""How results are shown: terminal and files."""
