"""The local model: every user is her own curator; claims as printed and corrected."""
