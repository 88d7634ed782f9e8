"""Theory put to use: bounds side by side, measured errors against them."""
