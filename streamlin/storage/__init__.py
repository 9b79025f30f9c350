"""What is kept on disk: files of the user alone, and what arrays in them must be."""
