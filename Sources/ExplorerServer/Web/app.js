// The frame: addresses, the list of entities, what was asked, what is unsaved, what others change.
import { ask, change, counted, el, go, leave, link, objectAddress, on, onFollow, showError, tableAddress, visible } from "./parts.js";
import { tableView } from "./table.js";
import { objectView } from "./object.js";
import { historyView, homeView, modelView } from "./views.js";

const main = document.getElementById("main");
const side = document.getElementById("side");
const menu = document.getElementById("menu");
let store = null;
let view = null;

// MARK: Addresses

function show() {
  view?.leave();
  leave();
  asked.length = 0;
  const path = location.pathname;
  const entity = path.startsWith("/entity/") ? store.byName.get(decodeURIComponent(path.slice(8))) : null;
  if (path === "/") view = homeView(main, store);
  else if (path === "/model") view = modelView(main, store);
  else if (path === "/history") view = historyView(main);
  else if (entity) view = tableView(main, store, entity, new URLSearchParams(location.search));
  else if (path.startsWith("/object/")) view = objectView(main, store, path.slice(8));
  else {
    main.replaceChildren();
    showError(main, new Error(`There is nothing at ${decodeURIComponent(path)}.`));
    view = { title: "Nothing here", refresh: () => {}, leave: () => {} };
  }
  document.title = view.title === store.name ? store.name : `${view.title} · ${store.name}`;
  for (const anchor of side.querySelectorAll("a")) {
    if (anchor.getAttribute("href") === path) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
  toggleMenu(false);
  drawAsked();
}

window.addEventListener("popstate", show);
onFollow(() => {
  show();
  // The next key press is about the new page.
  main.focus({ preventScroll: true });
});

function toggleMenu(isOpen) {
  side.classList.toggle("open", isOpen);
  menu.setAttribute("aria-expanded", String(isOpen));
}
menu.addEventListener("click", () => toggleMenu(!side.classList.contains("open")));

// MARK: Entities

function drawSide() {
  const nested = (parent) => store.entities.filter((entity) => (entity.parent ?? null) === parent).map((entity) => el("li", {},
    link(tableAddress(entity.name), { class: entity.abstract ? "abstract" : "" }, el("span", {}, visible(entity.name)),
      el("span", { class: "count", "data-count": entity.name }, "")),
    ...[el("ul", {}, nested(entity.name))].filter((list) => list.childElementCount)));
  side.replaceChildren(el("ul", {}, el("li", {}, link("/model", {}, "Model")),
    ...(store.kind === "web service" ? [] : [el("li", {}, link("/history", {}, "History"))])),
    el("h2", {}, "Entities"), el("ul", { class: "entities" }, nested(null)));
}

/** Counts the objects of each entity, one after another, and not far. */
let countRun = 0;
async function showCounts() {
  const mine = ++countRun;
  for (const entity of store.entities) {
    try {
      const { count, isCapped } = await ask("count", { entity: entity.name }, { signal: new AbortController().signal, isQuiet: true });
      if (mine !== countRun) return;
      for (const place of document.querySelectorAll("[data-count]")) {
        if (place.dataset.count === entity.name) place.textContent = count === null ? "" : counted(count, isCapped);
      }
    } catch (error) {
      console.warn(error.message);
      return;
    }
  }
}

// MARK: What was asked

const asked = [];
on("asked", (label, about) => {
  asked.push({ label, ...about });
  if (asked.length > 30) asked.shift();
  drawAsked();
});

function drawAsked() {
  const place = document.getElementById("asked");
  const isOpen = place.querySelector("details")?.open;
  const statements = asked.reduce((sum, one) => sum + one.count, 0);
  const time = asked.reduce((sum, one) => sum + one.ms, 0);
  const what = asked.some((one) => one.requests) ? "request" : "statement";
  place.replaceChildren(el("details", { open: isOpen },
    el("summary", {}, "What this page asked", el("span", { class: "count" },
      asked.length ? `${counted(statements)} ${what}${statements === 1 ? "" : "s"}, ${time.toFixed(1)} ms` : "")),
    el("ol", {}, asked.map((one) => el("li", {}, el("strong", {}, one.label), ` ${one.ms.toFixed(1)} ms`,
      one.note ? el("p", {}, one.note) : null,
      one.statements.map((statement) => el("div", { class: "statement" }, el("code", {}, visible(statement.sql)),
        el("small", {}, [statement.rows === undefined && statement.ms < 1 ? "under 1 ms" : `${statement.ms.toFixed(2)} ms`, statement.rows === undefined ? "" : `${counted(statement.rows)} rows`,
          statement.values.length ? `with ${statement.values.map(visible).join(", ")}` : ""].filter(Boolean).join(" · ")))),
      (one.requests ?? []).map((request) => el("div", { class: "statement" }, el("code", {}, visible(request.request)),
        el("small", {}, `${request.ms.toFixed(1)} ms · ${counted(request.rows)} rows${request.outcome ? ` · ${visible(request.outcome)}` : ""}`))))))));
}

// MARK: What is unsaved

const edits = document.getElementById("edits");
let saveProblem = el("div", {});

on("state", (state) => {
  if (!store?.writable) return;
  const number = state.inserted + state.updated + state.deleted;
  const button = (text, action, isEnabled, properties = {}) =>
    el("button", { disabled: isEnabled ? null : true, "data-action": action, ...properties, click: () => act(action) }, text);
  edits.hidden = false;
  edits.replaceChildren(el("span", { role: "status" }, number ? `${counted(number)} ${number === 1 ? "change" : "changes"} not saved` : "Nothing to save"),
    button("Undo", "undo", state.canUndo, { title: "Control-Z" }), button("Redo", "redo", state.canRedo, { title: "Control-Shift-Z" }),
    button("Discard", "discard", number > 0), button("Save", "save", number > 0, { class: "primary", title: "Control-S" }), saveProblem);
});

async function act(action) {
  try {
    const answer = await change({ action });
    saveProblem.replaceChildren();
    if (answer.saved) view?.renamed?.(answer.saved);
    await view?.refresh();
  } catch (error) { showError(saveProblem, error); }
}

document.addEventListener("keydown", (event) => {
  const isField = event.target.matches?.("input, textarea, select");
  const isCommand = event.ctrlKey || event.metaKey;
  if (event.key === "/" && !isField) {
    event.preventDefault();
    view?.focusFilter?.();
  } else if (store?.writable && isCommand && event.key.toLowerCase() === "s") {
    event.preventDefault();
    act("save");
  } else if (store?.writable && isCommand && !isField && event.key.toLowerCase() === "z") {
    event.preventDefault();
    act(event.shiftKey ? "redo" : "undo");
  }
});

// MARK: What others change

function listen() {
  const live = document.getElementById("live");
  const events = new EventSource("/api/events");
  let timer = 0;
  let isFirst = true;
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(() => { view?.refresh(); showCounts(); }, 100);
  };
  events.addEventListener("open", () => {
    live.replaceChildren(el("span", { class: "dot", title: "Changes of the store's files are shown as they come." }), "live");
    // While the connection was lost, anything may have changed.
    if (!isFirst) changed();
    isFirst = false;
  });
  events.addEventListener("changed", changed);
  events.addEventListener("error", () => live.replaceChildren(el("span", { class: "dot off" }), "The server does not answer."));
}

// MARK: Start

async function start() {
  try {
    store = await ask("store");
  } catch (error) { return showError(main, error); }
  store.byName = new Map(store.entities.map((entity) => [entity.name, entity]));
  store.showCounts = showCounts;
  store.create = async (entity) => {
    try { go(objectAddress((await change({ action: "create", entity })).id)); } catch (error) { showError(saveProblem, error); }
  };
  document.getElementById("store").textContent = visible(store.name);
  if (store.writable) await ask("store");
  drawSide();
  show();
  if (location.pathname !== "/") showCounts();
  listen();
  return undefined;
}

start();
