"""What is released, and how private it is: releases, exact and sound accountants, adversarial search."""
