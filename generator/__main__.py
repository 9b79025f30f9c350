"""Write everything that is generated; print the files that changed."""

from generator.files import ROOT, stale

for path, text in stale().items():
    path.write_text(text, encoding="utf-8")
    print(path.relative_to(ROOT))
