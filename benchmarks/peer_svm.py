"""A batch linear SVM on tf-idf in its own process: `python -m benchmarks.peer_svm TRAIN TEST`.

Tokens are words or pieces between blanks, alone and with pairs of them. Which, and C, is chosen **on the test part
itself**, which flatters it: a bound for what tuning can bring.
"""

import json
import sys
from itertools import product

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

from benchmarks.peer_events import counted, read

PATTERNS = {"words": r"\w+", "between blanks": r"\S+"}
LONGEST = {"": 1, ", pairs": 2}
WEIGHTS = {"": False, ", log tf": True}
COSTS = (0.1, 0.3, 1.0, 3.0, 10.0)


def main() -> None:
    train, test = (read(path) for path in sys.argv[1:])
    found = []
    for choice in product(PATTERNS, LONGEST, WEIGHTS):
        pattern, longest, weight = choice
        vectorizer = TfidfVectorizer(
            token_pattern=PATTERNS[pattern], ngram_range=(1, LONGEST[longest]), sublinear_tf=WEIGHTS[weight]
        )
        x, y = vectorizer.fit_transform(event.text for event in train), [event.label for event in train]
        tests = vectorizer.transform(event.text for event in test)
        for cost in COSTS:
            predicted = LinearSVC(C=cost, random_state=0).fit(x, y).predict(tests)
            right = [p == event.label for p, event in zip(predicted, test, strict=True)]
            found.append(counted(test, right) | {"tokens": "".join(choice), "c": cost})
    print(json.dumps(max(found, key=lambda own: own["right"])))


if __name__ == "__main__":
    main()
