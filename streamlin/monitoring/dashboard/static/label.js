// Shows what is asked, one event at a time, and sends the answers. Every text is inserted as text, never as markup.
"use strict";

const element = (id) => document.getElementById(id);
const KEYS = [..."123456789abcdefghijklmopqrstuvwxyz"]; // n is for another label
const FEW = 5, PAGE = 20; // events left when more are fetched, and how many at a time
const AGAIN = 2000, LATER = 3000; // milliseconds between two looks, and until an answer leaves
const REASONS = {
  first: "it is one of the first events",
  uncertain: "the prediction is uncertain",
  random: "it was drawn at random",
};

let labels = [], queue = [], wanted = 0, after = 0, looking = false, missed = false;
let waiting = null; // the last answer, which can be taken back: { event, label, timer }
const done = new Set(); // questions that are answered
const question = (event) => JSON.stringify([event.id, event.text]); // an id may come again with another text

function make(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function isolated(text) {
  const made = make("bdi", text);
  made.dir = "auto";
  return made;
}

function say(id, text) {
  if (element(id).textContent !== text) element(id).textContent = text;
}

// The service.

async function ask(path, options = {}) {
  const token = sessionStorage.getItem("token");
  const headers = { ...(options.headers || {}), ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  const answer = await fetch(path, { ...options, headers });
  element("access").hidden = answer.status !== 401;
  if (answer.status === 401) throw new Error("the token is missing or wrong");
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error);
  return value;
}

async function look() {
  if (looking) return;
  looking = true;
  try {
    const page = await ask(`labels-wanted?limit=${PAGE}&after=${after}`);
    labels = page.labels;
    wanted = page.wanted;
    const known = new Set([...done, ...queue.map(question)]);
    queue.push(...page.events.filter((event) => !known.has(question(event))));
    after = page.next ?? 0;
    if (missed) say("problem", ""); // not what became of an answer
    missed = false;
  } catch (error) {
    missed = true;
    say("problem", `can't look for questions: ${error.message}`);
  }
  looking = false;
  show();
}

async function send({ event, label }) {
  try {
    const body = JSON.stringify({ id: event.id, label });
    await ask("learn", { method: "POST", headers: { "Content-Type": "application/json" }, body, keepalive: true });
  } catch (error) {
    done.delete(question(event));
    queue.unshift(event);
    missed = false;
    say("problem", `“${label}” was not accepted: ${error.message}`);
    show();
  }
}

// Answers.

function answer(label) {
  const event = queue.shift();
  if (!event || !label) return;
  flush();
  done.add(question(event));
  waiting = { event, label, timer: setTimeout(flush, LATER) };
  element("last").replaceChildren("answered ", isolated(label));
  say("problem", "");
  show();
  if (queue.length < FEW) look();
}

function flush() {
  if (!waiting) return;
  clearTimeout(waiting.timer);
  send(waiting);
  waiting = null;
}

function takeBack() {
  if (!waiting) {
    say("last", "Nothing to take back: the last answer has been sent.");
    return;
  }
  clearTimeout(waiting.timer);
  done.delete(question(waiting.event));
  queue.unshift(waiting.event);
  waiting = null;
  say("last", "taken back");
  show();
}

function later() {
  const event = queue.shift();
  if (event) queue.push(event);
  show();
}

// The page.

function show() {
  const event = queue[0];
  say("count", `${wanted.toLocaleString("en")} wanted`);
  element("event").hidden = !event;
  element("nothing").hidden = Boolean(event) || !element("access").hidden;
  if (!event) return;
  element("event-title").replaceChildren(isolated(event.id));
  const text = element("text").firstElementChild;
  const shown = event.text === undefined ? "(the text is hidden)" : event.text;
  if (text.textContent !== shown) text.textContent = shown;
  const sure = event.confidence === null ? "" : `, ${(100 * event.confidence).toFixed(1)} % sure`;
  const guess = event.predicted === null ? ["no prediction"] : ["predicted ", isolated(event.predicted), sure];
  element("why").replaceChildren(...guess, `; asked because ${REASONS[event.why]}`);
  offer();
  [...element("labels").children].forEach((place, i) => {
    place.firstElementChild.classList.toggle("predicted", labels[i] === event.predicted);
  });
}

// A button for each label; labels are only ever added, and buttons stay, so that focus does.
function offer() {
  const buttons = element("labels"), known = element("known");
  const shown = labels.slice(0, KEYS.length);
  for (let i = buttons.children.length; i < shown.length; i++) buttons.append(choice(shown[i], KEYS[i]));
  for (let i = known.children.length; i < labels.length; i++) {
    known.append(Object.assign(make("option"), { value: labels[i] }));
  }
}

function choice(label, key) {
  const button = make("button");
  button.type = "button";
  button.append(make("kbd", key), isolated(label));
  button.addEventListener("click", () => answer(label));
  const place = make("li");
  place.append(button);
  return place;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
  if (event.target instanceof HTMLInputElement) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const act = action(event);
  if (!act) return;
  event.preventDefault();
  act();
});

function action({ key, target }) {
  if (key === "Backspace") return takeBack;
  if (!queue.length) return null;
  if (key === "n") return () => element("name").focus();
  if (target instanceof HTMLButtonElement && (key === "Enter" || key === " ")) return null; // it is pressed
  if (key === " ") return later;
  if (key === "Enter") return queue[0].predicted === null ? null : () => answer(queue[0].predicted);
  const label = labels[KEYS.indexOf(key.toLowerCase())];
  return label === undefined ? null : () => answer(label);
}

element("other").addEventListener("submit", (event) => {
  event.preventDefault();
  const label = element("name").value;
  element("name").value = "";
  element("name").blur();
  answer(label);
});

element("access").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", element("token").value);
  element("token").value = "";
  element("token").blur();
  look();
});

addEventListener("pagehide", flush);
setInterval(() => { if (queue.length < FEW) look(); }, AGAIN);
look();
