// Elements, requests, and what all views share. Text of a store reaches the page as text nodes only.

/** Characters that a reader would not see, or that reorder the text around them. */
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Returns text with hidden characters written as escapes. */
export function visible(text) {
  return String(text).replace(hidden, (c) => `\\u{${c.charCodeAt(0).toString(16)}}`);
}

const isThere = (child) => child !== undefined && child !== null && child !== false;

/** Replaces what a place holds. */
export function fill(place, ...children) {
  place.replaceChildren(...children.flat().filter(isThere));
}

/** Makes an element; functions are listeners, strings are text. */
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else if (name === "class") node.className = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter(isThere));
  return node;
}

/** An error that an answer holds. */
export class AnswerError extends Error {
  constructor(error) {
    super(error.message);
    this.details = error;
  }
}

const listeners = { asked: [], state: [] };

/** Calls a function with what each answer asked the store (“asked”), and with what is unsaved (“state”). */
export function on(kind, listener) {
  listeners[kind].push(listener);
}

/** The signal that ends the requests of a view that is left. */
let leaving = new AbortController();

export function leave() {
  leaving.abort();
  leaving = new AbortController();
}

async function answer(path, options, label) {
  const response = await fetch(path, { ...options, signal: options.signal ?? leaving.signal });
  const text = await response.text();
  let json;
  try { json = JSON.parse(text); } catch { throw new AnswerError({ message: text.trim() || `The server answered ${response.status}.` }); }
  if (json.error) throw new AnswerError(json.error);
  if (json.asked && !options.isQuiet) for (const listener of listeners.asked) listener(label, json.asked);
  if (json.state) for (const listener of listeners.state) listener(json.state);
  return json;
}

/** Asks the server; a quiet question is none of the page's. */
export function ask(what, parameters = {}, options = {}) {
  const query = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== "")
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");
  return answer(`/api/${what}${query ? "?" + query : ""}`, options, what);
}

/** Changes objects. A change ends even if its view is left. */
export function change(edit) {
  return answer("/api/edit", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(edit), signal: new AbortController().signal,
  }, edit.action);
}

/** Shows an error at a place; requests that were ended are none. */
export function showError(place, error) {
  if (error.name === "AbortError") return;
  const several = (error.details?.errors ?? []).map((one) =>
    el("li", {}, visible(one.message), one.object ? [" ", objectLink({ object: one.object })] : null));
  place.replaceChildren(el("div", { class: "error", role: "alert" }, visible(error.message), several.length ? el("ul", {}, several) : null));
}

// MARK: Links

let follow = () => {};

/** Calls a function for links within the explorer. */
export function onFollow(listener) {
  follow = listener;
}

/** Goes to an address of the explorer. */
export function go(address, replaces = false) {
  if (replaces) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  follow();
}

/** A link within the explorer. */
export function link(address, properties, ...children) {
  return el("a", { href: address, ...properties }, ...children);
}

export function objectAddress(reference) {
  return `/object/${reference}`;
}

/** A link to an object, by its name where it has one. */
export function objectLink(value, properties = {}) {
  const name = value.label ? visible(value.label) : value.object;
  return link(objectAddress(value.object), { class: "object", title: value.object, ...properties }, name);
}

export function tableAddress(entity, parameters = {}) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value));
  return `/entity/${encodeURIComponent(entity)}${query.size ? "?" + query : ""}`;
}

document.addEventListener("click", (event) => {
  const anchor = event.target.closest?.("a[href]");
  if (!anchor || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const address = anchor.getAttribute("href");
  if (!address.startsWith("/") || address.startsWith("/value") || anchor.target) return;
  event.preventDefault();
  go(address);
});

// MARK: Numbers

const grouped = new Intl.NumberFormat("en");

export function counted(count, isCapped = false) {
  return grouped.format(count) + (isCapped ? "+" : "");
}

export function bytes(count) {
  const units = ["bytes", "kB", "MB", "GB"];
  let [value, unit] = [count, 0];
  while (value >= 1000 && unit < units.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${unit ? value.toFixed(value < 10 ? 1 : 0) : value} ${count === 1 ? "byte" : units[unit]}`;
}
