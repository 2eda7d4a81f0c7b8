// Forms for values and relationships, with errors beside their fields.
import { ask, change, el, showError, visible } from "./parts.js";

function input(attribute) {
  const value = attribute.value;
  const id = `field-${attribute.name}`;
  const common = { id, "aria-label": attribute.name, "aria-describedby": `${id}-error` };
  switch (attribute.type) {
    case "Boolean": {
      const select = el("select", common, el("option", { value: "true" }, "true"), el("option", { value: "false" }, "false"));
      select.value = String(value ?? true);
      return { field: select, read: async () => select.value };
    }
    case "binary data": {
      const file = el("input", { type: "file", ...common });
      return { field: file, read: () => base64(file.files[0]) };
    }
    case "string": {
      const area = el("textarea", { rows: Math.min(12, String(value ?? "").split("\n").length + 1), spellcheck: "true", ...common });
      area.value = value ?? "";
      return { field: area, read: async () => area.value };
    }
    default: {
      const field = el("input", { type: "text", spellcheck: "false", autocomplete: "off", ...common });
      field.value = value ?? "";
      return { field, read: async () => field.value };
    }
  }
}

function base64(file) {
  if (!file) throw new Error("Choose a file.");
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result.slice(reader.result.indexOf(",") + 1)));
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(file);
  });
}

/** A form for a value. */
export function valueEditor(attribute, id, cancel, done) {
  if (attribute.value?.cut) {
    return el("p", { class: "also" }, "The text is too long to be edited here. ", el("button", { type: "button", class: "quiet", click: cancel }, "Close"));
  }
  const { field, read } = input(attribute);
  const problem = el("div", { id: `field-${attribute.name}-error`, class: "problem" });
  const set = async (make) => {
    try {
      await change({ action: "set", id, name: attribute.name, value: await make() });
      await close();
    } catch (error) {
      field.setAttribute("aria-invalid", "true");
      showError(problem, error);
      field.focus();
      form.scrollIntoView({ block: "nearest" });
    }
  };
  const form = el("form", {
    class: "editor", submit: (event) => { event.preventDefault(); set(read); },
    keydown: (event) => {
      if (event.key === "Escape") cancel();
      if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) set(read);
    },
  }, field, el("div", { class: "buttons" }, el("button", { type: "submit" }, "Set"),
    el("button", { type: "button", class: "quiet", click: () => set(async () => null) }, "No value"),
    el("button", { type: "button", class: "quiet", click: cancel }, "Cancel")), problem);
  const close = async () => {
    form.remove();
    await done();
  };
  return form;
}

/** A form that searches for objects of a relationship. */
export function relationEditor(relationship, id, make, cancel) {
  const list = el("ul", { class: "candidates", "aria-label": "Objects found" });
  const problem = el("div", {});
  let timer = 0;
  const search = el("input", {
    type: "search", "aria-label": `Search ${relationship.destination}`, placeholder: `Search ${relationship.destination}`,
    input: () => { clearTimeout(timer); timer = setTimeout(find, 150); },
  });

  async function find() {
    try {
      const { objects } = await ask("candidates", { id, name: relationship.name, text: search.value });
      list.replaceChildren(...objects.map((value) => el("li", {}, el("button", {
        type: "button", class: "quiet", click: () => choose(value.object),
      }, visible(value.label ?? value.object), el("small", {}, value.object)))));
      if (!objects.length) list.replaceChildren(el("li", { class: "nil" }, "Nothing found."));
    } catch (error) { showError(problem, error); }
  }

  const choose = (object) => {
    form.remove();
    make({ action: relationship.many ? "add" : "set", object });
  };
  const form = el("form", {
    class: "editor", submit: (event) => event.preventDefault(), keydown: (event) => { if (event.key === "Escape") cancel(); },
  }, search, el("div", { class: "buttons" },
    relationship.many ? null : el("button", { type: "button", class: "quiet", click: () => choose(null) }, "None"),
    el("button", { type: "button", class: "quiet", click: cancel }, "Cancel")), list, problem);
  find();
  return form;
}
