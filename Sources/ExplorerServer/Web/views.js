// The first page, the model, the history.
import { ask, counted, el, fill, go, link, objectLink, showError, tableAddress, visible } from "./parts.js";

/** What the store is. */
export function homeView(place, store) {
  const facts = [["Path", store.path], ["Kind", store.kind], ["UUID", store.uuid], ["Model", store.model]];
  const some = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  fill(place, el("div", { class: "title" }, el("h1", {}, visible(store.name)),
    el("span", { class: "badge" }, store.writable ? "can be changed" : "read-only")),
  store.note ? el("p", { class: "note" }, visible(store.note)) : null,
  el("dl", { class: "facts" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, el("code", {}, visible(value)))))),
  el("h2", {}, "Entities"),
  el("ul", { class: "cards" }, store.entities.map((entity) => el("li", {},
    link(tableAddress(entity.name), { class: "card" },
      el("strong", {}, visible(entity.name)), el("span", { class: "count", "data-count": entity.name }, ""),
      el("small", {}, [entity.parent ? `a ${visible(entity.parent)}` : "", entity.abstract ? "abstract" : "",
        some(entity.attributes.length, "attribute"), some(entity.relationships.length, "relationship")].filter(Boolean).join(" · ")))))));
  store.showCounts();
  return { title: store.name, refresh: () => store.showCounts(), leave: () => {} };
}

/** The model as a diagram. */
export function modelView(place, store) {
  const holder = el("div", { class: "diagram", tabindex: 0, "aria-label": "Diagram of the model" }, "…");
  place.replaceChildren(el("div", { class: "title" }, el("h1", {}, "Model"),
    el("span", { class: "count" }, `${store.entities.length} entities`)),
  el("p", { class: "also" }, "Choose an entity to see its objects."), holder);
  // As a document, which is no text that could become elements of this page by mistake.
  const request = new XMLHttpRequest();
  request.open("GET", "/api/diagram.svg");
  request.responseType = "document";
  request.addEventListener("load", () => {
    const svg = request.responseXML?.documentElement;
    if (!svg) return showError(holder, new Error("The diagram could not be read."));
    holder.replaceChildren(document.importNode(svg, true));
    for (const group of holder.querySelectorAll("g[data-entity]")) {
      const name = group.getAttribute("data-entity");
      group.setAttribute("role", "link");
      group.setAttribute("tabindex", "0");
      group.setAttribute("aria-label", name);
      const open = () => go(tableAddress(name));
      group.addEventListener("click", open);
      group.addEventListener("keydown", (event) => { if (event.key === "Enter") open(); });
    }
    return undefined;
  });
  request.addEventListener("error", () => showError(holder, new Error("The server does not answer.")));
  request.send();
  return { title: "Model", refresh: () => {}, leave: () => request.abort() };
}

const words = { insert: "added", update: "changed", delete: "deleted" };

/** The persistent history as a timeline. */
export function historyView(place) {
  const list = el("ol", { class: "timeline" });
  const more = el("div", { class: "more" });
  place.replaceChildren(el("div", { class: "title" }, el("h1", {}, "History")), list, more);

  async function load(before) {
    try {
      const answer = await ask("history", { before });
      if (!before) list.replaceChildren();
      if (!answer.isKept) {
        return list.replaceChildren(el("li", { class: "empty" }, "The store keeps no history: it was never opened with NSPersistentHistoryTrackingKey."));
      }
      list.append(...answer.transactions.map(transaction));
      const last = answer.transactions.at(-1);
      more.replaceChildren(answer.isLast || !last ? "" : el("button", { class: "quiet", click: () => load(last.number) }, "Earlier"));
    } catch (error) { showError(more, error); }
    return undefined;
  }

  function transaction(one) {
    const who = [...new Set([one.author, one.context, one.bundle, one.process])].filter(Boolean).map(visible).join(" · ");
    const changes = el("ul", { class: "changes" });
    const details = el("details", { toggle: () => { if (details.open && !changes.childElementCount) read(0); } },
      el("summary", {}, el("span", { class: "number" }, `#${one.number}`), el("time", { datetime: one.date }, `${one.date.replace("T", " ").replace(/\.\d+Z$/, "Z")}`),
        el("span", { class: "who" }, who || "unknown"),
        one.counts.map((count) => el("span", { class: `change ${count.type}` }, `${counted(count.count)} ${visible(count.entity)} ${words[count.type]}`))),
      changes);

    async function read(offset) {
      try {
        const answer = await ask("changes", { number: one.number, offset });
        changes.querySelector(".next")?.remove();
        changes.append(...answer.changes.map((item) => el("li", {}, el("span", { class: `change ${item.type}` }, words[item.type]), " ",
          item.type === "delete" ? el("code", {}, visible(item.object.object)) : objectLink(item.object),
          item.properties.length ? el("small", {}, item.properties.map(visible).join(", ")) : null)));
        if (!answer.isLast) changes.append(el("li", { class: "next" }, el("button", { class: "quiet", click: () => read(offset + 100) }, "More")));
        if (!changes.childElementCount) changes.append(el("li", { class: "empty" }, "No changes of entities that the model has."));
      } catch (error) { showError(changes, error); }
    }
    return el("li", {}, details);
  }

  load();
  return { title: "History", refresh: () => load(), leave: () => {} };
}
