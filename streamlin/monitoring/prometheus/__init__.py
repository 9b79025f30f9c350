"""A run as Prometheus sees it: figures, health, and the port where they are had."""
