"""Released packages as they are installed, looked at by every detector that fits: docs/in-the-wild.md.

`python -m corpus.wild diffprivlib` runs in an environment that has the library, and writes what was found to
`found/diffprivlib.json`; `--only NAME` prints one subject; `--page` writes the page from all that was found.
"""

from corpus.wild.subject import Subject

# What each library is looked at by, and installed by.
LIBRARIES = {
    "diffprivlib": "tools/check-adapters classic",
    "opendp": "tools/check-adapters classic",
    "pure_ldp": "tools/check-local",
    "multi_freq_ldpy": "tools/check-local",
    "opacus": "tools/check-adapters torch",
}

__all__ = ["LIBRARIES", "Subject"]
