"""The words that statements are made of: symbols, guarantees, claims, errors."""
