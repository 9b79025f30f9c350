"""A page that shows a run while it goes on: what it shows, and the server that hands it out."""
