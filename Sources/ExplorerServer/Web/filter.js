// The field for a predicate: completion, and errors at their place.
import { el, visible } from "./parts.js";

const operators = ["==", "!=", "<", "<=", ">", ">=", "BETWEEN", "IN", "BEGINSWITH[cd]", "CONTAINS[cd]", "ENDSWITH[cd]", "LIKE[cd]", "MATCHES"];
const joints = ["AND", "OR", "NOT", "ANY", "ALL", "NONE", "nil", "TRUE", "FALSE", "now()"];

/**
 * Makes the field.
 *
 * @param entities The entities of the model, by name.
 * @param apply Called with the predicate.
 */
export function filterField(entities, entity, text, apply) {
  const list = el("ul", { class: "choices", id: "choices", role: "listbox", "aria-label": "Completions", hidden: true });
  const problem = el("div", { class: "problem", id: "problem", role: "alert" });
  let [choices, chosen] = [[], -1];

  const input = el("input", {
    type: "text", id: "where", class: "where", spellcheck: "false", autocomplete: "off", autocapitalize: "off", role: "combobox",
    "aria-label": "Filter: a predicate", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "choices",
    "aria-describedby": "problem", placeholder: example(entities.get(entity)),
    input: () => offer(), keydown: (event) => key(event), blur: () => close(),
  });
  input.value = text ?? "";

  /** The word before the cursor, and where it begins. */
  function word() {
    const before = input.value.slice(0, input.selectionStart);
    const quotes = before.match(/(?<!\\)["']/g) ?? [];
    if (quotes.length % 2) return null;
    const found = before.match(/[\w.@$\[\]]*$/)[0];
    return { text: found, start: before.length - found.length, before: before.slice(0, before.length - found.length) };
  }

  /** The properties at the end of a path, as far as it is written. */
  function properties(path) {
    const keys = path.split(".");
    const last = keys.pop();
    let current = entities.get(entity);
    let isMany = false;
    for (const key of keys) {
      const relationship = current?.relationships.find((one) => one.name === key);
      if (!relationship) return [];
      current = entities.get(relationship.destination);
      isMany = relationship.many;
    }
    const prefix = keys.length ? keys.join(".") + "." : "";
    const names = [...(current?.attributes ?? []).map((one) => [one.name, one.type]),
      ...(current?.relationships ?? []).map((one) => [one.name, one.many ? `many ${one.destination}` : one.destination])];
    if (isMany) names.push(["@count", "number"]);
    return names.filter(([name]) => name.toLowerCase().startsWith(last.toLowerCase()) && name !== last)
      .map(([name, note]) => ({ text: prefix + name, note }));
  }

  function offer() {
    const current = word();
    choices = [];
    if (current) {
      const isAfterPath = /[\w\])]\s+$/.test(current.before) && !/\b(AND|OR|NOT|ANY|ALL|NONE|IN)\s+$/i.test(current.before)
        && !/(==|!=|<|>|=|\])\s+$/.test(current.before);
      const words = isAfterPath ? [...operators, ...joints.slice(0, 2)] : joints.slice(2);
      const fitting = words.filter((one) => one.toLowerCase().startsWith(current.text.toLowerCase()) && one !== current.text)
        .map((one) => ({ text: one, note: "" }));
      choices = [...(isAfterPath ? [] : properties(current.text)), ...(current.text || isAfterPath ? fitting : [])].slice(0, 12);
    }
    chosen = -1;
    draw();
  }

  function draw() {
    list.hidden = !choices.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
    list.replaceChildren(...choices.map((choice, index) => el("li", {
      role: "option", id: `choice-${index}`, "aria-selected": String(index === chosen),
      // The field keeps the focus.
      mousedown: (event) => { event.preventDefault(); take(index); },
    }, el("span", {}, visible(choice.text)), el("small", {}, choice.note))));
    if (chosen >= 0) {
      input.setAttribute("aria-activedescendant", `choice-${chosen}`);
      list.children[chosen].scrollIntoView({ block: "nearest" });
    } else input.removeAttribute("aria-activedescendant");
  }

  function close() {
    choices = [];
    draw();
  }

  function take(index) {
    const current = word();
    const end = input.selectionStart;
    const text = choices[index].text;
    input.value = input.value.slice(0, current.start) + text + input.value.slice(end);
    input.selectionStart = input.selectionEnd = current.start + text.length;
    close();
  }

  function key(event) {
    if (choices.length && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      chosen = (chosen + step + choices.length + (chosen < 0 && step < 0 ? 1 : 0)) % choices.length;
      draw();
    } else if (choices.length && (event.key === "Tab" || (event.key === "Enter" && chosen >= 0))) {
      event.preventDefault();
      take(Math.max(0, chosen));
    } else if (event.key === "Escape") {
      close();
    } else if (event.key === "Enter") {
      close();
      apply(input.value.trim());
    } else if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      offer();
    }
  }

  const field = el("div", { class: "field" },
    el("form", { class: "filter", role: "search", submit: (event) => { event.preventDefault(); apply(input.value.trim()); } },
      input, el("button", { type: "submit" }, "Filter"),
      el("button", { type: "button", class: "quiet", click: () => { input.value = ""; apply(""); } }, "Clear"), list),
    problem);

  return {
    field, input,
    /** Shows an error, with its place marked in the text; nothing for none. */
    show(error) {
      input.setAttribute("aria-invalid", String(Boolean(error)));
      if (!error) return problem.replaceChildren();
      const { position } = error.details ?? {};
      const parts = [el("p", {}, visible(error.message))];
      if (position !== undefined && error.details.field === "where") {
        // The position counts characters as readers do.
        const characters = [...new Intl.Segmenter("en", { granularity: "grapheme" }).segment(input.value)].map((one) => one.segment);
        const end = /^\w/.test(characters[position] ?? "")
          ? position + characters.slice(position).join("").match(/^\w+/)[0].length : position + 1;
        parts.push(el("code", { class: "marked" }, visible(characters.slice(0, position).join("")),
          el("mark", {}, visible(characters.slice(position, end).join("")) || " "), visible(characters.slice(end).join(""))));
      }
      problem.replaceChildren(el("div", { class: "error" }, parts));
    },
  };
}

/** A predicate that the entity may have. */
function example(entity) {
  const text = entity?.attributes.find((one) => one.name === entity.label);
  const number = entity?.attributes.find((one) => one.type.startsWith("integer"));
  const parts = [text ? `${text.name} CONTAINS[cd] "a"` : null, number ? `${number.name} > 0` : null].filter(Boolean);
  return parts.length ? `Filter, such as ${parts.join(" AND ")}` : "Filter by a predicate";
}
