// Values by their type.
import { bytes, counted, el, objectLink, visible } from "./parts.js";

const nothing = () => el("span", { class: "nil", title: "no value", "aria-label": "no value" }, "∅");

/** The types whose values are aligned at the right. */
export const numbers = new Set(["integer 16", "integer 32", "integer 64", "decimal", "double", "float", "count"]);

/** A value in a cell of a table. */
export function cell(value, type) {
  if (value === null) return nothing();
  if (type === "object" && value.object) return objectLink(value);
  if (typeof value === "object") {
    if ("bytes" in value) return el("span", { class: "bytes" }, bytes(value.bytes));
    if ("cut" in value) return document.createTextNode(visible(value.cut) + "…");
  }
  if (type === "date") return date(value);
  if (type === "Boolean") return el("span", { class: value ? "yes" : "no" }, value ? "true" : "false");
  if (value === "") return el("span", { class: "nil" }, "empty");
  return document.createTextNode(visible(value));
}

/** A date on one line, in UTC; the reader's own time is its title. */
function date(text) {
  const own = local(text);
  return el("time", { datetime: own ? text : null, title: own }, visible(text.replace("T", " ").replace(/\.\d+Z$/, "Z")));
}

/** The date in the reader's time zone; nothing where calendars end. */
function local(text) {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return null;
  return new Intl.DateTimeFormat("en", { dateStyle: "full", timeStyle: "long" }).format(date);
}

/** A value on the page of its object. */
export function whole(attribute, id) {
  const value = attribute.value;
  if (value === null) return nothing();
  const file = `/value?id=${encodeURIComponent(id)}&name=${encodeURIComponent(attribute.name)}`;
  if (typeof value === "object" && "bytes" in value) return binary(value, attribute, file);
  if (typeof value === "object" && "cut" in value) {
    return el("div", {}, el("pre", { class: "text", tabindex: 0 }, visible(value.cut) + "…"),
      el("a", { href: file, download: "" }, `All ${counted(value.length)} characters`));
  }
  switch (attribute.type) {
    case "date": {
      const own = local(value);
      return el("div", {}, el("time", { datetime: own ? value : null }, visible(value.replace("T", " ").replace("Z", ""))), el("span", { class: "zone" }, " UTC"),
        own ? el("div", { class: "also" }, own) : null);
    }
    case "Boolean": return cell(value, attribute.type);
    case "URI": return uri(value);
    case "UUID": return el("code", {}, visible(value));
    default: break;
  }
  if (numbers.has(attribute.type)) return el("span", { class: "number" }, visible(value));
  if (value === "") return el("span", { class: "nil" }, "empty");
  const json = pretty(value);
  if (json) return el("pre", { class: "json", tabindex: 0, "aria-label": "JSON" }, visible(json));
  return value.includes("\n") ? el("pre", { class: "text", tabindex: 0 }, visible(value)) : el("span", { class: "text" }, visible(value));
}

/** A link only to the web: other schemes could run programs. */
function uri(text) {
  let url;
  try { url = new URL(text); } catch { return el("code", {}, visible(text)); }
  if (url.protocol !== "https:" && url.protocol !== "http:") return el("code", {}, visible(text));
  return el("a", { href: url.href, rel: "noopener noreferrer", target: "_blank" }, visible(text));
}

function pretty(text) {
  if (!/^\s*[[{]/.test(text)) return null;
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return null; }
}

function binary(value, attribute, file) {
  const lines = [];
  for (let start = 0; start < value.hex.length; start += 32) {
    const line = value.hex.slice(start, start + 32);
    lines.push((start / 2).toString(16).padStart(4, "0") + "  " + line.replace(/../g, "$& "));
  }
  const rest = value.bytes * 2 > value.hex.length ? "\n…" : "";
  return el("div", {},
    value.picture ? el("img", { src: file, alt: `Picture: ${attribute.name}`, class: "picture" }) : null,
    el("div", { class: "also" }, `${value.picture ? value.picture.slice(6).toUpperCase() + ", " : ""}${bytes(value.bytes)} `,
      el("a", { href: file, download: "" }, "Download")),
    el("details", { open: value.picture ? null : true }, el("summary", {}, "Bytes"),
      el("pre", { class: "hex", tabindex: 0 }, lines.join("\n") + rest)));
}
