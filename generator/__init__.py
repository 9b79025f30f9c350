"""What is generated from the built-in learners and the metrics: the wrappers' stubs, and tables of the documentation.

`make generated` writes all of it anew.
"""
