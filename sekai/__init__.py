"""sekai."""
