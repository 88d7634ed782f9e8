"""What a mechanism returns: read into parts, encoded as numbers, said in the user's words."""
