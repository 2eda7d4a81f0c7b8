// The page of an object: its values, its relationships, and their editing.
import { ask, change, counted, el, fill, go, link, objectAddress, objectLink, showError, tableAddress, visible } from "./parts.js";
import { whole } from "./values.js";
import { valueEditor, relationEditor } from "./editing.js";

/** Shows an object. */
export function objectView(place, store, id) {
  let object = null;

  async function load() {
    try {
      object = await ask("object", { id });
      draw();
    } catch (error) {
      showError(place, error);
    }
  }

  function draw() {
    const problem = el("div", {});
    document.title = `${object.label ?? object.id} · ${store.name}`;
    fill(place,
      el("div", { class: "title" },
        el("h1", {}, visible(object.label ?? object.id)),
        object.unsaved ? el("span", { class: "badge" }, object.unsaved === "new" ? "new, not saved" : "changed, not saved") : null,
        el("span", { class: "space" }),
        store.writable ? el("button", { class: "danger", click: () => remove(problem) }, "Delete") : null),
      el("p", { class: "crumbs" }, link(tableAddress(object.entity), {}, visible(object.entity)), " › ", object.id.split("/").pop(), " ",
        el("code", { class: "uri" }, object.uri)),
      problem,
      el("div", { class: "columns-of-object" },
        el("section", { "aria-labelledby": "attributes" }, el("h2", { id: "attributes" }, "Attributes"),
          el("dl", { class: "attributes" }, object.attributes.map(attribute)),
          object.attributes.length ? null : el("p", { class: "empty" }, "It has none.")),
        el("section", { "aria-labelledby": "relationships" }, el("h2", { id: "relationships" }, "Relationships"),
          object.relationships.map(relationship), object.relationships.length ? null : el("p", { class: "empty" }, "It has none."))));
  }

  async function remove(problem) {
    try {
      await change({ action: "delete", id });
      go(tableAddress(object.entity));
    } catch (error) { showError(problem, error); }
  }

  function attribute(one) {
    const value = el("dd", { "data-name": one.name });
    const show = () => {
      const canEdit = store.writable && !one.derived && one.type !== "transformable" && one.type !== "composite";
      value.replaceChildren(whole(one, object.id), canEdit
        ? el("button", { class: "quiet edit", "aria-label": `Edit ${one.name}`, click: () => edit() }, "Edit") : "");
    };
    const edit = () => {
      value.replaceChildren(valueEditor(one, object.id, show, load));
      value.querySelector("textarea, input, select")?.focus();
    };
    show();
    return el("div", {}, el("dt", {}, visible(one.name), el("small", {}, one.type, one.optional ? "" : ", required")), value);
  }

  function relationship(one) {
    const items = el(one.ordered ? "ol" : "ul", { class: "related" });
    const more = el("div", { class: "more" });
    const editor = el("div", {});
    let shown = [];

    function add(part) {
      shown = [...shown, ...part.objects];
      items.replaceChildren(...shown.map((value, index) => el("li", {}, objectLink(value), el("small", {}, value.object),
        store.writable && one.many ? itemButtons(value, index) : null)));
      const rest = part.isCapped || shown.length < part.count;
      more.replaceChildren(rest && part.objects.length
        ? el("button", { class: "quiet", click: () => next() }, `Show more of ${counted(part.count, part.isCapped)}`) : "");
      if (!shown.length) items.replaceChildren(el("li", { class: "nil" }, one.many ? "none" : "∅"));
    }

    async function next() {
      try { add(await ask("related", { id: object.id, name: one.name, offset: shown.length, limit: 100 })); } catch (error) { showError(more, error); }
    }

    async function make(edit) {
      try {
        await change({ id: object.id, name: one.name, ...edit });
        await load();
      } catch (error) { showError(editor, error); }
    }

    function itemButtons(value, index) {
      const name = value.label ?? value.object;
      const button = (text, label, edit) => el("button", { class: "quiet", "aria-label": `${label} ${name}`, title: label, click: () => make(edit) }, text);
      return el("span", { class: "buttons" },
        one.ordered && index ? button("↑", "Move up", { action: "move", object: value.object, place: index - 1 }) : null,
        one.ordered && index < shown.length - 1 ? button("↓", "Move down", { action: "move", object: value.object, place: index + 1 }) : null,
        button("×", "Remove", { action: "remove", object: value.object }));
    }

    add(one);
    const kind = `${visible(one.destination)}${one.ordered ? ", ordered" : ""}`;
    return el("section", { class: "relationship", "data-name": one.name },
      el("h3", {}, visible(one.name), el("small", {}, one.many ? `${counted(one.count, one.isCapped)} ${kind}` : kind),
        store.writable ? el("button", {
          class: "quiet", "aria-label": `${one.many ? "Add to" : "Change"} ${one.name}`,
          click: () => {
            editor.replaceChildren(relationEditor(one, object.id, make, () => editor.replaceChildren()));
            editor.querySelector("input").focus();
          },
        }, one.many ? "Add…" : "Change…") : null),
      editor, items, more);
  }

  load();
  return {
    title: id,
    refresh: () => {
      // A field that is being edited is not taken away.
      if (!place.querySelector("form")) return load();
      return undefined;
    },
    leave: () => {},
    renamed: (names) => { if (names[id]) go(objectAddress(names[id]), true); },
  };
}
