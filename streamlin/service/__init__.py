"""The service: predictions and learning over HTTP; what is accepted is on disk before it is answered."""
