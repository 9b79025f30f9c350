"""Taggers: a tag for each token of a sentence, predicted and learned sentence by sentence."""
