"""The checkpoint: its file, writing it in the background, the state of a run, loading, inspection.

One file holds JSON and arrays. The arrays are, with the module that knows what they mean::

    rows/VIEW  sightings/VIEW              features.rows         the buckets of a view that have rows
    joint_rows/NAME                        features.joint        rows of a learner of several views
    names/VIEW/…                           features.names        n-grams, if they are kept
    drain/octets  drain/ends               features.drain       templates of log lines, if they are found
    drain/counts  drain/firsts  drain/lines
    learners/NAME/…                        learners              each learner's tables; an external model's pickle
    evaluation/accuracy/…                  evaluation.accuracy   also the last predictions and the curve
    evaluation/calibration/…               evaluation.calibration
    evaluation/baselines/…                 evaluation.baselines
    evaluation/sums/…                      evaluation.label_sums
    evaluation/pairs/…                     evaluation.pairs
    evaluation/confusion/…                 evaluation.confusion
    evaluation/inputs/…                    evaluation.inputs
    evaluation/drift/…                     evaluation.adwin, page_hinkley, ddm, kswin
    evaluation/novelty/…                   evaluation.novelty    new words
    evaluation/surprise/…                  evaluation.surprise   the language model
    evaluation/slices/FIELD/…              evaluation.slices
    evaluation/sentences/…                 evaluation.sentence_tally     of taggers
    evaluation/tokens/…                    evaluation.token_window
    evaluation/commonest_tag/…             evaluation.commonest_tag
    evaluation/topics/…                    evaluation.topic_tally    of clusterers
    evaluation/raw/… evaluation/raw_sums/… evaluation.sampled    where labels are asked for
    evaluation/weighted_pairs/…            evaluation.sampled
    keys/…                                 keyed.models         models per key
    asking/…                               asking.asking
    delayed_labels/wanted/…                delayed_labels.wanted   labels that are asked for
    delayed_labels/waiting/…               delayed_labels.waiting   texts that wait for labels
    delayed_labels/early/…                 delayed_labels.by_id  labels that wait for texts
    delayed_labels/known/…                 delayed_labels.by_id  ids whose label is known
    delayed_labels/delays/…                delayed_labels.delays
    delayed_labels/now                     delayed_labels.by_id  the latest time of any event

docs/architecture.md lists every array with its dtype, shape and meaning, and the keys of the JSON.
"""
