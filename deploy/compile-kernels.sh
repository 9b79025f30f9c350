#!/bin/sh
# Compiles every kernel into NUMBA_CACHE_DIR, by using it once. Run when the image is built.
set -eu
folder=$(mktemp -d)
cd "$folder"

learners='[{kind = "naive_bayes"}, {kind = "perceptron"}, {kind = "averaged_perceptron"}, {kind = "passive_aggressive"},
  {kind = "logistic_regression"}, {kind = "hinge"}, {kind = "sgd"}, {kind = "arow"}, {kind = "mixture"}]'
learners=$(echo "$learners" | tr '\n' ' ')

streamlin demo --limit 2000
streamlin demo --limit 2000 --preset accurate
for drift in page_hinkley ddm kswin; do
    streamlin demo --limit 500 --set "evaluation.drift=$drift" --learner perceptron > /dev/null
done

printf '%s\n' '{"id": "1", "text": "win a prize at 10.0.0.1", "label": "spam"}' '{"id": "2", "text": "läuft", "label": "ham"}' \
    '{"id": "3", "text": "win", "label": "spam", "weight": 2}' '{"id": "4", "text": "noon"}' '{"id": "4", "label": "ham"}' > events.jsonl
printf 'text,label\n"a, b",x\nc,y\n' > events.csv
streamlin run events.jsonl --late-labels --slice-by id --set "learners=$learners" --set features.names=100 \
    --set 'features.words.masks=["uuid", "ip", "hex", "number"]' --set features.words.min_count=2 \
    --predictions predictions.jsonl --checkpoint state > /dev/null
streamlin run events.jsonl --late-labels --slice-by id --set "learners=$learners" --set features.names=100 \
    --set 'features.words.masks=["uuid", "ip", "hex", "number"]' --set features.words.min_count=2 \
    --predictions predictions.jsonl --checkpoint state > /dev/null
for tokens in scikit-learn whitespace char_wb; do
    streamlin run events.csv --set "features.words.tokens=$tokens" --set features.words.values=log > /dev/null
done
for format in text vw fasttext; do
    printf '__label__x a b\n1 |t a b\n' | streamlin run "-?format=$format" --learner perceptron > /dev/null
done
echo '{"text": "a prize"}' | streamlin predict state > /dev/null
streamlin explain state "a prize" > /dev/null
streamlin inspect state > /dev/null
python -c '
import streamlin
for name in ("NaiveBayes", "Perceptron", "AveragedPerceptron", "PassiveAggressive", "LogisticRegression"):
    learner = getattr(streamlin, name)().learn_one("a b", "x").learn_one({"c": 1.0}, "y")
    learner.predict_one("a"), learner.predict_proba_one("b")
'
rm -r "$folder"
