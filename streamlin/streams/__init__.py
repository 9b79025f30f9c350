"""Streams: from an address to events, and from predictions to lines."""
