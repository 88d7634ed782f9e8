"""README, docs/ and the notebooks: their code is run, what it prints is compared, and the site is made of them."""
