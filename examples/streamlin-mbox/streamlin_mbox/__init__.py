"""Mail for streamlin."""
