"""The page that shows a run while it lasts: its contents, and the server for it."""
