"""Streams: from an address to events, from predictions to lines."""
