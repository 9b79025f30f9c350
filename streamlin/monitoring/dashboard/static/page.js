// Shows snapshots of a run, from the server or from the data of an HTML report.
// Every text is inserted as text, never as markup.
"use strict";

const element = (id) => document.getElementById(id);
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const COLOURS = 8;
const KINDS = { window_accuracy: "window", accuracy: "since the start", fading_accuracy: "fading" };

// Numbers for people.

const count = (n) => (n === null || n === undefined ? "–" : Math.round(n).toLocaleString("en"));
const amount = (n) => (Number.isInteger(n) ? count(n) : n.toPrecision(3));
const percent = (p) => (p === null || p === undefined ? "–" : `${(100 * p).toFixed(2)} %`);
const ratio = (x) => (x === null || x === undefined ? "–" : x.toFixed(3).replace(/^-(?=0\.000$)/, ""));
const short = (n) => {
  for (const [size, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (Math.abs(n) >= size) return `${+(n / size).toPrecision(3)}${unit}`;
  }
  return `${+n.toPrecision(3)}`;
};
const times = (n) => (n === 1 ? "once" : `${count(n)} times`);
const recent = () => `last ${count(shown.window)}`;
const probability = (p) => (p === null || p === undefined ? "–" : p < 0.001 ? "< 0.001" : p.toPrecision(2));

// Elements. Existing ones are refilled, so that focus, scrolling and a selection stay.

function make(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function say(where, text) {
  if (where.textContent !== text) where.textContent = text;
}

function isolated(text, className) {
  const made = make("bdi", text, className);
  made.dir = "auto";
  return made;
}

function children(parent, n, tag) {
  while (parent.children.length > n) parent.lastElementChild.remove();
  while (parent.children.length < n) parent.append(make(tag));
  return [...parent.children];
}

// rows: lists of cells, the first of which is the row's heading; a cell is a text, or a function that fills its element.
function fill(table, titles, rows, classes = []) {
  const head = children(table.tHead, 1, "tr")[0];
  children(head, titles.length, "th").forEach((cell, i) => {
    cell.scope = "col";
    cell.className = classes[i] || "";
    say(cell, titles[i]);
  });
  children(table.tBodies[0], rows.length, "tr").forEach((row, r) => {
    const cells = rows[r];
    if (row.children.length !== cells.length) {
      row.replaceChildren(...cells.map((_, i) => make(i ? "td" : "th")));
      row.firstElementChild.scope = "row";
    }
    cells.forEach((cell, i) => {
      const place = row.children[i];
      if (classes[i]) place.className = classes[i];
      if (typeof cell === "function") cell(place);
      else say(place, cell);
    });
  });
}

function name(text) {
  return (place) => {
    const inner = place.querySelector("bdi") || place.appendChild(isolated(""));
    say(inner, text);
  };
}

// Charts.

class Chart {
  // range: the y axis's limits, from the least and the greatest value.
  constructor(place, format, range) {
    Object.assign(this, { place, format, range, key: "", plot: null, marks: [] });
    new ResizeObserver(() => this.plot && this.plot.setSize(this.size())).observe(place);
  }

  size() {
    return { width: this.place.clientWidth || 300, height: this.place.clientHeight };
  }

  // series: {name, colour, dash, shown}; data: the x values, then those of each series.
  draw(series, data, reading) {
    const key = JSON.stringify(series.map((one) => [one.name, one.colour, one.dash]));
    if (key !== this.key) {
      this.key = key;
      if (this.plot) this.plot.destroy();
      this.plot = new uPlot(this.options(series, reading), data, this.place);
    }
    this.plot.setData(data);
    series.forEach((one, i) => {
      if (this.plot.series[i + 1].show !== one.shown) this.plot.setSeries(i + 1, { show: one.shown });
    });
  }

  options(series, reading) {
    const axis = { stroke: style("--soft"), grid: { stroke: style("--line"), width: 1 }, ticks: { show: false } };
    return {
      ...this.size(),
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
      scales: { x: { time: false }, y: { range: this.range } },
      axes: [
        { ...axis, values: (_, ticks) => ticks.map(short), space: 70, size: 30 },
        { ...axis, values: (_, ticks) => ticks.map(this.format), size: 58 },
      ],
      series: [{}, ...series.map((one) => ({
        label: one.name, stroke: one.colour, width: 2, dash: one.dash, points: { show: false }, show: one.shown,
      }))],
      hooks: {
        draw: [(plot) => this.drawMarks(plot)],
        setCursor: [(plot) => reading && reading(plot.cursor.idx)],
      },
    };
  }

  drawMarks(plot) {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
    for (const [at, isFall] of this.marks) {
      ctx.strokeStyle = style(isFall ? "--bad" : "--line");
      const x = Math.round(plot.valToPos(at, "x", true));
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }

  forget() {
    this.key = "";
  }
}

const fromZero = (_, least, most) => [0, most > 0 ? 1.1 * most : 1];
// The curves of shares fill the chart up to a margin of a tenth; small changes are not magnified.
const around = (_, least, most) => {
  const margin = Math.max(0.1 * (most - least), 0.01);
  return [Math.max(0, least - margin), Math.min(1, most + margin)];
};
const charts = {
  accuracy: new Chart(element("accuracy-chart"), (value) => `${+(100 * value).toFixed(1)} %`, around),
  novelty: new Chart(element("novelty-chart"), (value) => `${+(100 * value).toFixed(1)} %`, fromZero),
  pace: new Chart(element("pace-chart"), short, fromZero),
  lag: new Chart(element("lag-chart"), short, fromZero),
};

// State: the last snapshot, the curve so far, and the reader's choices.

let shown = null;
let curve = null;
let kind = null;
let chosen = null; // the learner whose confusion the reader chose; null: the best
let whose = null;
let when = ""; // the prefix of keys: "" since the start, "window_" the last events
let chosenSpan = ""; // likewise, of the columns of learners; "fading_" too
const off = new Set();

function accept(snapshot) {
  const points = snapshot.curve;
  if (points && points.begin > 0) {
    if (!curve || curve.labelled.length < points.begin) return false;
    for (const key of Object.keys(points)) {
      if (key === "labelled") curve.labelled = curve.labelled.slice(0, points.begin).concat(points.labelled);
      else if (key !== "begin") curve[key] = curve[key].map((one, i) => one.slice(0, points.begin).concat(points[key][i]));
    }
  } else {
    curve = points || null;
  }
  shown = snapshot;
  show();
  return true;
}

function show() {
  showCounts();
  showAccuracy();
  showDrift();
  showNovelty();
  showPace();
  showDelayedLabels();
  showTopics();
  showTemplates();
  showMistakes();
  showConfusion();
  showShares();
  showInputs();
  showSlices();
  showNotices();
}

function showCounts() {
  const { counts } = shown;
  const leader = shown.rows.find((row) => row.name === shown.leader) || best();
  const items = [["events", count(counts.events)]];
  const rates = shown.history ? shown.history.events_per_second : [];
  if (!shown.done && rates.length) items.push(["events/s, now", count(rates[rates.length - 1])]);
  items.push(["events/s", count(shown.events_per_second)]);
  if ("total_lag" in shown) items.push(["lag", count(shown.total_lag)]);
  if ("rounds" in shown) items.push([`rounds of ${count(shown.rounds.shards)} shards`, count(shown.rounds.rounds)]);
  if ("workers" in shown) items.push(["workers", count(shown.workers.workers)]);
  if ("workers" in shown && shown.workers.restarts) items.push(["restored", count(shown.workers.restarts)]);
  if (leader && typeof leader.accuracy === "number") items.push([`best: ${leader.name}`, percent(leader.accuracy)]);
  items.push(["labels", count(shown.n_labels)]);
  if (shown.surprise && "window_perplexity" in shown.surprise) {
    items.push(["perplexity, last events", shown.surprise.window_perplexity.toFixed(1)]);
  }
  if (counts.unlabelled) items.push(["without label", count(counts.unlabelled)]);
  items.push(["dead letters", count(counts.dead_letters), counts.dead_letters > 0]);
  for (const [kind, number] of shown.dead_letters_by_kind) items.push([`dead: ${kind}`, count(number), true]);
  if (counts.tombstones) items.push(["tombstones", count(counts.tombstones)]);
  if (counts.lost) items.push(["lost", count(counts.lost), true]);
  if (shown.delayed_labels) items.push(["waiting for a label", count(shown.delayed_labels.waiting)]);
  items.push(["seconds", shown.seconds.toFixed(1)]);
  children(element("counts"), items.length, "div").forEach((place, i) => {
    if (!place.firstChild) place.append(make("dt"), make("dd"));
    say(place.firstChild, items[i][0]);
    say(place.lastChild, items[i][1]);
    place.lastChild.className = items[i][2] ? "bad" : "";
  });
  element("unverified").hidden = !shown.unverified;
  if (shown.source) say(element("source").firstChild, shown.source);
}

function best() {
  const learners = shown.rows.filter((row) => row.learner && typeof row.accuracy === "number");
  return learners.sort((one, other) => other.accuracy - one.accuracy)[0];
}

function appearance(row, i) {
  const learners = shown.rows.filter((one) => one.learner).length;
  if (!row.learner) return { colour: style("--base"), dash: [[7, 4], [2, 3], [8, 3, 2, 3]][(i - learners) % 3] };
  return { colour: style(`--c${i % COLOURS}`), dash: i < COLOURS ? [] : [12, 3] };
}

// By the name of a metric's format.
const FORMATS = {
  percent, ratio, count, probability,
  interval: (pair) => (pair ? `${(100 * pair[0]).toFixed(2)} – ${(100 * pair[1]).toFixed(2)}` : "–"),
};

// The metrics that are columns, as the snapshot describes them: key, title, hint, format, and whether the reader chooses
// the span; then the key is that of the values since the start, and the span stands before it.
function showAccuracy() {
  const { rows } = shown;
  element("accuracy").hidden = !rows.length;
  const columns = shown.columns.map((one) => ({ ...one, key: one.chosen ? chosenSpan + one.key : one.key }))
    .filter(({ key }) => rows.some((row) => key in row));
  showChoice();
  const top = (rows.find((row) => row.name === shown.leader) || best() || {}).name;
  fill(element("learners"), ["learner", ...columns.map(({ title }) => title)], rows.map((row, i) => [
    (place) => showKey(place, row, i),
    ...columns.map(({ key, format }) => (key in row ? FORMATS[format](row[key]) : "")),
  ]));
  columns.forEach(({ hint }, i) => {
    element("learners").tHead.rows[0].cells[i + 1].title = hint;
  });
  [...element("learners").tBodies[0].rows].forEach((row, i) => {
    row.className = rows[i].name === top ? "best" : "";
  });
  say(element("test"), shown.unit === "tokens" ? "the sign test over sentences" : "McNemar's test");
  drawAccuracy();
}

function showChoice() {
  const chosen = shown.columns.filter((one) => one.chosen);
  element("chosen-span").hidden = !chosen.some(({ key }) => shown.rows.some((row) => `window_${key}` in row));
  const titles = chosen.map(({ title }) => title);
  say(element("chosen-metrics"), [titles.slice(0, -1).join(", "), titles[titles.length - 1]].filter(Boolean).join(" and "));
  say(element("chosen-span").querySelector("option[value=window_]"), recent());
}

function showKey(place, row, i) {
  if (!place.firstChild) {
    const label = make("label");
    const box = make("input");
    box.type = "checkbox";
    box.addEventListener("change", () => {
      if (box.checked) off.delete(box.value);
      else off.add(box.value);
      drawAccuracy();
    });
    label.append(box, make("span", "", "key"), isolated(""));
    place.append(label);
  }
  const [box, key, text] = place.firstChild.children;
  const { colour, dash } = appearance(row, i);
  box.value = row.name;
  box.checked = !off.has(row.name);
  key.style.borderColor = colour;
  key.className = dash.length ? "key dashed" : "key";
  say(text, row.name);
}

function drawAccuracy() {
  const kinds = curve ? Object.keys(KINDS).filter((key) => key in curve) : [];
  element("accuracy-chart").hidden = element("accuracy-reading").hidden = !kinds.length || !curve.labelled.length;
  if (!kinds.length || !curve.labelled.length) return;
  if (!kinds.includes(kind)) kind = kinds[0];
  showSpans(kinds);
  const series = shown.rows.map((row, i) => ({ name: row.name, ...appearance(row, i), shown: !off.has(row.name) }));
  const alarms = shown.drift ? shown.drift.last_alarms : [];
  charts.accuracy.marks = alarms.map((alarm) => [alarm.labelled, alarm.after < alarm.before]);
  charts.accuracy.draw(series, [curve.labelled, ...curve[kind]], (at) => {
    const visible = series.map((one, i) => [one, i]).filter(([one]) => !off.has(one.name));
    say(element("accuracy-reading"), at === null || at === undefined || !curve ? "" :
      `after event ${count(curve.labelled[at])}: ` +
      visible.map(([one, i]) => `${one.name} ${percent(curve[kind][i][at])}`).join(" · "));
  });
  const told = series.map((one, i) => {
    const values = curve[kind][i].filter((value) => value !== null);
    return `${one.name} from ${percent(values[0])} to ${percent(values[values.length - 1])}`;
  });
  element("accuracy-chart").setAttribute("aria-label",
    `Accuracy, ${spanTitle(kind)}, over ${count(curve.labelled[curve.labelled.length - 1])} labelled events: ` +
    `${told.join("; ")}. ${charts.accuracy.marks.length} drift alarms are marked.`);
}

function spanTitle(key) {
  return key === "window_accuracy" ? recent() : KINDS[key];
}

function showSpans(kinds) {
  const place = element("span");
  if (place.dataset.kinds === kinds.join()) return;
  place.dataset.kinds = kinds.join();
  place.replaceChildren(place.firstElementChild, ...kinds.map((key) => {
    const label = make("label");
    const choice = make("input");
    Object.assign(choice, { type: "radio", name: "span", value: key, checked: key === kind });
    choice.addEventListener("change", () => {
      kind = key;
      drawAccuracy();
    });
    label.append(choice, ` ${spanTitle(key)}`);
    return label;
  }));
}

function showDrift() {
  const { drift } = shown;
  const section = element("alarms");
  section.hidden = !drift;
  if (!drift) return;
  const { last_alarms: alarms } = drift;
  const rises = drift.alarms - drift.falls;
  const told = [];
  if (drift.falls) told.push(`${drift.of} fell ${times(drift.falls)}, marked by dashed red lines in the curves above`);
  if (rises) told.push(`${drift.falls ? "it" : drift.of} rose ${times(rises)}, marked by grey ones`);
  say(element("alarms-count"), drift.alarms ? `Alarms: ${told.join("; ")}.` : "No alarm: no change was found.");
  section.querySelector(".scroll").hidden = !alarms.length;
  fill(section.querySelector("table"), ["learner", "event", "before", "after", "position"], alarms.map((alarm) => [
    name(alarm.learner), count(alarm.labelled), percent(alarm.before),
    `${alarm.after < alarm.before ? "▼" : "▲"} ${percent(alarm.after)}`, name(alarm.position || "–"),
  ]), ["", "", "", "", "text"]);
}

function showNovelty() {
  const { novelty } = shown;
  const section = element("novelty");
  section.hidden = !novelty || novelty.share === null;
  if (section.hidden) return;
  const { events, share, window_share: recently } = novelty.curve;
  element("novelty-chart").hidden = !events || !events.length;
  if (events && events.length) {
    charts.novelty.marks = novelty.last_alarms.map(({ event }) => [event, true]);
    charts.novelty.draw([
      { name: "last events", colour: style("--c0"), dash: [], shown: true },
      { name: "since the start", colour: style("--base"), dash: [7, 4], shown: true },
    ], [events, recently, share]);
    element("novelty-chart").setAttribute("aria-label", `Share of new words, from ${percent(recently[0])} to ` +
      `${percent(recently[recently.length - 1])} over ${count(events[events.length - 1])} events. ` +
      `Alarms marked: ${novelty.last_alarms.length}.`);
  }
  say(element("novelty-count"), `${percent(novelty.share)} of all tokens were in no event before, ` +
    `${percent(novelty.window_share)} of those of the last events. ` +
    (novelty.alarms ? `The share rose ${times(novelty.alarms)}, marked by dashed red lines.` : "No alarm: it did not rise."));
  section.querySelector(".scroll").hidden = !novelty.last_alarms.length;
  fill(section.querySelector("table"), ["event", "before", "after", "position"], novelty.last_alarms.map((alarm) => [
    count(alarm.event), percent(alarm.before), `▲ ${percent(alarm.after)}`, name(alarm.position),
  ]), ["", "", "", "text"]);
}

function showPace() {
  const { history } = shown;
  const some = Boolean(history && history.second.length > 1);
  element("pace").hidden = !some;
  const lags = some && history.lag.some((lag) => lag !== null);
  element("lag").hidden = !lags && !("lag" in shown);
  if (some) {
    const line = (title, colour) => [{ name: title, colour: style(colour), dash: [], shown: true }];
    const last = history.events_per_second.length - 1;
    charts.pace.draw(line("events/s", "--c0"), [history.second, history.events_per_second]);
    element("pace-chart").setAttribute("aria-label",
      `Events per second over ${count(history.second[last])} seconds; ${count(history.events_per_second[last])} at the end`);
    element("lag-chart").hidden = !lags;
    if (lags) {
      charts.lag.draw(line("lag", "--c1"), [history.second, history.lag]);
      element("lag-chart").setAttribute("aria-label",
        `Waiting events over ${count(history.second[last])} seconds; ${count(history.lag[last])} at the end`);
    }
  } else {
    element("lag-chart").hidden = true;
  }
  if ("lag" in shown) {
    fill(element("lag").querySelector("table"), ["part", "lag"], shown.lag.map(([part, lag]) => [name(part), count(lag)]));
  }
}

// Keys of the report and their titles; from the eighth on only those that are not 0 are shown.
const ALWAYS = 7;
const DELAYED_LABELS = {
  waiting: "texts waiting for a label",
  joined: "texts whose label came later",
  delay: "texts by which each label is delayed",
  "delay_events median": "delay in texts, median",
  "delay_events p95": "delay in texts, 95 %",
  "delay_seconds median": "delay in seconds, median",
  "delay_seconds p95": "delay in seconds, 95 %",
  labels_waiting: "labels waiting for their text",
  early: "labels that came before their text",
  fallen_out: "texts that waited too long",
  without_id: "texts without an id, which no label can match",
  replaced: "texts replaced by another one with the same id",
  unknown: "labels of unknown texts",
  repeated: "repeated labels",
  contradicted: "contradicting labels",
  wrong_length: "tags of another length than their sentence",
};

function showDelayedLabels() {
  const { delayed_labels: delays } = shown;
  element("delayed-labels").hidden = !delays;
  if (!delays) return;
  const keys = Object.keys(DELAYED_LABELS).filter((key, i) => (i < ALWAYS ? key in delays : delays[key]));
  fill(element("delayed-labels").querySelector("table"), ["texts and labels", "number"], keys.map((key) => [DELAYED_LABELS[key], amount(delays[key])]));
}

function showTopics() {
  const learners = Object.entries(shown.topics || {});
  say(element("accuracy-title"), learners.length ? "Clusters" : "Accuracy");
  element("accuracy").lastElementChild.hidden = learners.length > 0;
  children(element("topics"), learners.length, "section").forEach((section, i) => {
    const [learner, clusters] = learners[i];
    if (!section.firstChild) section.append(make("h2"), scrolledTable());
    const labelled = clusters.some((one) => one[3] !== null);
    say(section.firstChild, `Largest clusters of ${learner}`);
    section.lastChild.setAttribute("aria-label", `Largest clusters of ${learner}`);
    fill(section.lastChild.firstChild, ["", "heaviest words", "texts", ...(labelled ? ["commonest label", "share"] : [])],
      clusters.map(([number, texts, words, label, share]) => [
        `#${number}`, name(words === null ? "(hidden)" : words), count(texts),
        ...(labelled ? [name(label === null ? "–" : label), percent(share)] : []),
      ]), ["", "text"]);
  });
}

function showTemplates() {
  const { templates } = shown;
  element("templates").hidden = !templates;
  if (!templates) return;
  const without = templates.beyond ? `; ${count(templates.beyond)} lines have none, there are too many` : "";
  say(element("templates-count"), `${count(templates.new)} templates in ${count(templates.lines)} lines, ` +
    `${count(templates.window_new)} of them never seen before the ${recent()}${without}.`);
  for (const [key, title] of [["newest", "newest template"], ["largest", "largest template"]]) {
    fill(element(`${key}-templates`), ["", title, "lines", "first line"], templates[key].map(([number, text, lines, first]) => [
      `#${number}`, name(text === null ? "(hidden)" : text), count(lines), count(first),
    ]), ["", "text"]);
  }
}

function showMistakes() {
  const mistakes = shown.mistakes || [];
  element("mistakes").hidden = !mistakes.length;
  children(element("mistakes").querySelector("ol"), mistakes.length, "li").forEach((place, i) => {
    const mistake = mistakes[i];
    const key = JSON.stringify(mistake);
    if (place.dataset.key === key) return;
    place.dataset.key = key;
    place.replaceChildren(...(mistake.parts ? wrongSentence(mistake) : wrongText(mistake)));
  });
}

const sure = (share) => (share === null ? "" : `, ${(100 * share).toFixed(0)} % sure`);

function wrongText(mistake) {
  const verdict = make("span", undefined, "verdict");
  verdict.append("predicted ", isolated(mistake.predicted === null ? "nothing" : mistake.predicted, "said"),
    `${sure(mistake.confidence)}; is `, isolated(mistake.label, "true"), " · ", isolated(mistake.event));
  return [...(mistake.text === null ? [] : [isolated(mistake.text || "(an empty text)")]), verdict];
}

// The wrong tokens are marked, each with its tags behind it; for ears the signs between them are words.
function wrongSentence(mistake) {
  const sentence = isolated("", "sentence");
  mistake.parts.forEach((part, i) => {
    sentence.append(i ? " " : "", typeof part === "string" ? isolated(part) : wrongToken(part));
  });
  const verdict = make("span", undefined, "verdict");
  verdict.append(`${count(mistake.wrong)} of ${count(mistake.known)} tags wrong${sure(mistake.confidence)} · `, isolated(mistake.event));
  return [sentence, verdict];
}

function wrongToken({ token, predicted, label }) {
  const made = make("mark");
  const arrow = make("span", " → ");
  arrow.ariaHidden = "true";
  const tags = make("span", undefined, "tags");
  tags.append(make("span", "predicted ", "unseen"), isolated(predicted === null ? "nothing" : predicted, "said"), arrow,
    make("span", ", is ", "unseen"), isolated(label, "true"));
  made.append(...(token === null ? [] : [isolated(token || "(an empty token)"), " "]), tags);
  return made;
}

function showConfusion() {
  const { confusion } = shown;
  element("confusion").hidden = !confusion || !confusion.labels.length;
  if (!confusion || !confusion.labels.length) return;
  const names = Object.keys(confusion.learners);
  const select = element("whose");
  whose = [chosen, shown.leader, names[0]].find((one) => names.includes(one));
  if (select.options.length !== names.length) select.replaceChildren(...names.map((one) => new Option(one)));
  select.value = whose;
  say(element("when").querySelector("option[value=window_]"), recent());
  say(element("cells"), shown.unit);
  const counts = confusion[`${when}learners`][whose];
  const rest = confusion.labels.length;
  const others = counts[rest].some((n) => n > 0);
  const shownOf = (list) => (others || counts.some((row) => row[rest] > 0) ? list : list.slice(0, rest));
  const matrix = others ? counts : counts.slice(0, rest);
  const titles = ["true \\ predicted", ...shownOf([...confusion.labels, others ? "others, none" : "none"])];
  fill(element("confusion").querySelector("table"), titles, matrix.map((row, r) => {
    const sum = row.reduce((total, n) => total + n, 0) || 1;
    return [name(confusion.labels[r] ?? "others"), ...shownOf(row).map((n, c) => (place) => {
      say(place, count(n));
      place.style.background = `rgb(var(${r === c ? "--heat" : "--wrong"}) / ${(0.55 * n / sum).toFixed(3)})`;
    })];
  }));
  showMixups(confusion[`${when}mixups`][whose]);
}

function showMixups(pairs) {
  const place = element("mixups");
  place.replaceChildren(pairs.length ? "Most often: " : "");
  pairs.forEach(([label, predicted, n], i) => {
    place.append(i ? ", " : "", isolated(label, "true"), " as ", isolated(predicted, "said"), ` ${count(n)}×`);
  });
}

function showShares() {
  const { shares, by_label: byLabel } = shown;
  element("shares").hidden = !shares || !shares.length;
  if (!shares || !shares.length) return;
  const most = Math.max(...shares.slice(0, 20).map(([, share]) => share || 0)) || 1;
  const figures = (byLabel[`${when}learners`] || {})[whose] || [];
  const titles = ["label", "share", recent(), "", "precision", "recall", "F1"];
  fill(element("shares").querySelector("table"), titles, shares.map(([label, share, last], i) => [
    name(label), percent(share), percent(last), (place) => {
      const bar = place.firstChild || place.appendChild(make("span", undefined, "bar"));
      bar.style.width = `${Math.min(80, Math.max(1, Math.round((80 * share) / most)))}px`;
    },
    ...[0, 1, 2].map((figure) => (figures[i] ? ratio(figures[i][figure]) : "")),
  ]), ["", "", "", "text"]);
  say(element("by-label"), `Precision, recall and F1 of ${whose}, ${when ? recent() : "since the start"}.`);
}

function showInputs() {
  const inputs = Object.entries(shown.inputs || {});
  element("inputs").hidden = !inputs.length;
  const number = (x) => (x === null || x === undefined ? "–" : x.toFixed(1));
  fill(element("inputs").querySelector("table"), ["view", "features per text", recent(), "never seen", recent()],
    inputs.map(([view, figures]) => [
      name(view), number(figures.features), number(figures.window_features),
      percent(figures.unseen), percent(figures.window_unseen),
    ]));
}

function scrolledTable() {
  const scroll = make("div", undefined, "scroll");
  Object.assign(scroll, { tabIndex: 0 });
  scroll.setAttribute("role", "region");
  const table = make("table");
  table.append(make("thead"), make("tbody"));
  scroll.append(table);
  return scroll;
}

function showSlices() {
  const fields = Object.entries(shown.slices || {}).filter(([, slice]) => slice.values.length);
  const learners = shown.rows.filter((row) => row.learner).map((row) => row.name);
  children(element("slices"), fields.length, "section").forEach((section, i) => {
    const [field, { values, more }] = fields[i];
    if (!section.firstChild) section.append(make("h2"), scrolledTable(), make("p", "", "hint"));
    const [title, scroll, hint] = section.children;
    say(title, `Accuracy by ${field}`);
    scroll.setAttribute("aria-label", `Accuracy by ${field}`);
    fill(scroll.firstChild, ["value", shown.unit, ...learners], values.map(([value, n, accuracies]) => [
      name(value), count(n), ...accuracies.map(percent),
    ]));
    say(hint, more ? `${count(more)} more values in the report` : "");
  });
}

function showNotices() {
  const notices = shown.notices || [];
  element("notices").hidden = !notices.length;
  children(element("notices").querySelector("ul"), notices.length, "li").forEach((place, i) => {
    if (!place.firstChild) place.append(isolated(""));
    say(place.firstChild, notices[i]);
  });
}

function state(which, text) {
  const place = element("state");
  if (place.dataset.state === which) return;
  place.dataset.state = which;
  say(place, text);
}

// Where snapshots come from.

let wait = 1000;

function connect() {
  const events = new EventSource("events");
  let silence = null;
  const again = () => {
    events.close();
    clearTimeout(silence);
    if (!shown || !shown.done) state("lost", shown ? "connection lost; trying again" : "no connection; trying again");
    setTimeout(connect, wait);
    wait = Math.min(2 * wait, 15000);
  };
  const listen = () => {
    clearTimeout(silence);
    silence = setTimeout(() => state("lost", "no updates; the run is busy or has stopped"), 15000);
  };
  events.onmessage = (message) => {
    wait = 1000;
    listen();
    if (!accept(JSON.parse(message.data))) again();
    else state(shown.done ? "done" : "live", shown.done ? "the run has ended" : "live");
  };
  events.onerror = again;
  listen();
}

element("chosen-span").addEventListener("change", (event) => {
  chosenSpan = event.target.value;
  showAccuracy();
});
element("whose").addEventListener("change", (event) => {
  chosen = event.target.value;
  showConfusion();
  showShares();
});
element("when").addEventListener("change", (event) => {
  when = event.target.value;
  showConfusion();
  showShares();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  Object.values(charts).forEach((chart) => chart.forget());
  if (shown) show();
});

const own = element("data");
if (own) {
  accept(JSON.parse(own.textContent));
  state("done", "report of a run");
} else {
  connect();
}
