// A table of objects, of which only the rows in sight are asked for.
import { ask, counted, el, fill, go, link, objectAddress, showError, tableAddress, visible } from "./parts.js";
import { cell, numbers } from "./values.js";
import { filterField } from "./filter.js";

const rowHeight = 32;
const chunkSize = 100;
/** The number of parts that are kept. */
const keptChunks = 40;
/** Browsers lose their place in elements that are much higher. */
const highest = 6_000_000;

/** Shows the table of an entity. */
export function tableView(place, store, entity, parameters) {
  const question = {
    entity: entity.name, where: parameters.get("where") ?? "", sort: parameters.get("sort") ?? "", columns: parameters.get("columns") ?? "",
  };
  const chunks = new Map();
  const wanted = new Map();
  let [total, isCapped, columns, generation] = [0, false, null, 0];
  // Whether nobody counts the rows: then the table grows by a row that waits for the next part, until a part is not full.
  let isOpenEnded = false;

  const title = el("h1", {}, visible(entity.name));
  const count = el("span", { class: "count", role: "status" }, "…");
  const filter = filterField(store.byName, entity.name, question.where, (where) => change({ where }));
  const chooser = el("details", { class: "columns" }, el("summary", {}, "Columns"));
  const head = el("div", { class: "row head", role: "row" });
  const body = el("div", { class: "body", role: "rowgroup" });
  const problem = el("div", {});
  const scroller = el("div", {
    class: "scroller", role: "table", tabindex: 0, "aria-label": `Objects of ${entity.name}`, scroll: () => draw(), keydown: (event) => key(event),
  }, el("div", { class: "sheet", role: "presentation" }, el("div", { role: "rowgroup", class: "heads" }, head), body));
  fill(place, el("div", { class: "title" }, title, count, el("span", { class: "space" }),
    store.writable && !entity.abstract ? el("button", { click: () => store.create(entity.name) }, "New object") : null, chooser),
  filter.field, problem, scroller);

  function change(changed) {
    const { entity: name, ...others } = { ...question, ...changed };
    const address = tableAddress(name, others);
    // The same question again is asked again.
    if (address === location.pathname + location.search) return refresh();
    go(address);
  }

  // MARK: Asking

  async function load(index, signal) {
    const part = await ask("rows", { ...question, offset: index * chunkSize, limit: chunkSize }, signal ? { signal } : {});
    return part;
  }

  async function start() {
    const mine = ++generation;
    try {
      const [first, number] = await Promise.all([load(0), ask("count", question)]);
      if (mine !== generation) return;
      filter.show(null);
      problem.replaceChildren();
      scroller.hidden = false;
      columns = first.columns;
      chunks.clear();
      chunks.set(0, first.rows);
      isOpenEnded = number.count === null && first.rows.length === chunkSize;
      [total, isCapped] = [Math.max(number.count ?? 0, first.rows.length), number.isCapped && (number.count !== null || isOpenEnded)];
      showCount();
      drawHead();
      drawChooser();
      draw();
      if (!isCapped || isOpenEnded) return;
      // All of them are counted once the first are shown: the scroll bar tells how many there are.
      const exact = await ask("count", { ...question, exact: 1 });
      if (mine !== generation) return;
      [total, isCapped] = [exact.count, false];
      showCount();
      draw();
    } catch (error) {
      if (mine !== generation || error.name === "AbortError") return;
      count.textContent = "";
      // A table that is empty would look like an answer.
      scroller.hidden = true;
      if (error.details?.field === "where") filter.show(error);
      else showError(problem, error);
    }
  }

  function showCount() {
    count.textContent = `${counted(total, isCapped)} ${total === 1 ? "object" : "objects"}${question.where ? " found" : ""}`;
    scroller.setAttribute("aria-rowcount", isCapped ? -1 : total + 1);
  }

  function refresh() {
    for (const abort of wanted.values()) abort.abort();
    wanted.clear();
    return start();
  }

  /** Asks for a part, unless it is there or on its way. */
  function want(index) {
    if (chunks.has(index) || wanted.has(index)) return;
    const abort = new AbortController();
    wanted.set(index, abort);
    const mine = generation;
    // Parts that are scrolled past are not asked for.
    setTimeout(async () => {
      if (abort.signal.aborted) return;
      try {
        const part = await load(index, abort.signal);
        if (mine !== generation) return;
        chunks.set(index, part.rows);
        if (isOpenEnded && index * chunkSize >= total) {
          total = index * chunkSize + part.rows.length;
          isOpenEnded = isCapped = part.rows.length === chunkSize;
          showCount();
        }
        while (chunks.size > keptChunks) chunks.delete(chunks.keys().next().value);
        draw();
      } catch (error) {
        if (mine === generation) showError(problem, error);
      } finally {
        if (wanted.get(index) === abort) wanted.delete(index);
      }
    }, 60);
  }

  // MARK: Drawing

  function sorts() {
    return question.sort.split(",").map((one) => one.trim()).filter(Boolean)
      .map((one) => ({ path: one.replace(/^-/, ""), isDown: one.startsWith("-") }));
  }

  function drawHead() {
    const current = sorts();
    const widths = columns.map((column) => numbers.has(column.type) || column.type === "Boolean" ? 6.5
      : column.type === "date" ? 11.5 : column.type === "UUID" ? 20 : 10.5);
    // The same for all rows, whatever they hold.
    scroller.style.setProperty("--columns", `6rem ${widths.map((width) => `minmax(${width}rem, ${width}fr)`).join(" ")}`);
    scroller.style.setProperty("--least", `${widths.reduce((sum, width) => sum + width, 6)}rem`);
    head.replaceChildren(el("div", { role: "columnheader", class: "cell" }, "ID"), ...columns.map((column) => {
      const index = current.findIndex((one) => one.path === column.path);
      const state = index < 0 ? "none" : current[index].isDown ? "descending" : "ascending";
      const mark = { none: "", ascending: "▲", descending: "▼" }[state];
      const label = el("button", {
        class: "sort", title: `${column.path}: ${column.type}. Sorts; with the shift key, by several columns.`,
        click: (event) => sort(column.path, event.shiftKey),
      }, visible(column.path), el("span", { class: "mark", "aria-hidden": "true" }, mark));
      return el("div", { role: "columnheader", "aria-sort": state, class: numbers.has(column.type) ? "cell right" : "cell" }, label);
    }));
  }

  function sort(path, isAdded) {
    const all = sorts();
    const known = all.find((one) => one.path === path);
    const next = !known ? { path, isDown: false } : known.isDown ? null : { path, isDown: true };
    const others = isAdded ? all.filter((one) => one.path !== path) : [];
    change({ sort: [...others, next].filter(Boolean).map((one) => (one.isDown ? "-" : "") + one.path).join(",") });
  }

  function draw() {
    if (!columns) return;
    const length = total + (isOpenEnded ? 1 : 0);
    const whole = length * rowHeight;
    const height = Math.min(whole, highest);
    body.style.height = `${height}px`;
    const view = scroller.clientHeight - rowHeight;
    // Of a table that is too high, each step of the scroll bar is more than one of the rows.
    const ratio = whole > height ? (whole - view) / (height - view) : 1;
    const top = scroller.scrollTop * ratio;
    const first = Math.max(0, Math.floor(top / rowHeight) - 8);
    const last = Math.min(length, Math.ceil((top + view) / rowHeight) + 8);
    for (const [index, abort] of wanted) {
      if (index < Math.floor(first / chunkSize) || index > Math.floor((last - 1) / chunkSize)) {
        abort.abort();
        wanted.delete(index);
      }
    }
    const focused = document.activeElement?.closest?.(".row")?.dataset.index;
    const rows = [];
    for (let index = first; index < last; index += 1) {
      const chunk = Math.floor(index / chunkSize);
      want(chunk);
      rows.push(row(index, chunks.get(chunk)?.[index % chunkSize], scroller.scrollTop + index * rowHeight - top));
    }
    body.replaceChildren(...rows);
    if (focused !== undefined) body.querySelector(`[data-index="${focused}"] a`)?.focus({ preventScroll: true });
    if (!total) body.replaceChildren(el("p", { class: "empty" }, question.where ? "No object fits the filter." : "There are no objects."));
  }

  function row(index, data, top) {
    const node = el("div", { class: "row", role: "row", "aria-rowindex": index + 2, "data-index": index });
    node.style.transform = `translateY(${Math.round(top)}px)`;
    if (!data) {
      node.append(el("div", { class: "cell waiting", role: "cell" }, "…"));
      return node;
    }
    node.append(el("div", { class: "cell id", role: "cell" }, link(objectAddress(data.id), {}, data.id.replace(`${entity.name}/`, ""))));
    data.cells.forEach((value, place) => {
      const type = columns[place].type;
      node.append(el("div", { class: numbers.has(type) ? "cell right" : "cell", role: "cell" }, cell(value, type)));
    });
    return node;
  }

  function key(event) {
    const from = event.target.closest(".row")?.dataset.index;
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const next = from === undefined ? Number(body.firstElementChild?.dataset.index ?? 0) : Number(from) + (event.key === "ArrowDown" ? 1 : -1);
    const target = body.querySelector(`[data-index="${next}"] a`);
    if (!target) return;
    event.preventDefault();
    target.focus();
  }

  // MARK: Columns

  function drawChooser() {
    const shown = columns.map((column) => column.path);
    const choices = [...entity.attributes.map((one) => [one.name, one.type]),
      ...entity.relationships.map((one) => one.many ? [`${one.name}.@count`, "number"] : [one.name, one.destination])];
    const others = shown.filter((path) => !choices.some(([name]) => name === path)).map((path) => [path, "path"]);
    const set = (paths) => change({ columns: paths.join(",") });
    const path = el("input", { type: "text", placeholder: "artist.name", list: "paths", "aria-label": "A path over relationships" });
    path.placeholder = paths()[0] ?? "path";
    chooser.replaceChildren(el("summary", {}, "Columns"), el("div", { class: "panel" },
      el("p", { class: "also" }, "What is hidden is not read."),
      [...choices, ...others].map(([name, note]) => {
        const box = el("input", {
          type: "checkbox", change: (event) => set(event.target.checked ? [...shown, name] : shown.filter((one) => one !== name)),
        });
        box.checked = shown.includes(name);
        return el("label", {}, box, visible(name), el("small", {}, note));
      }),
      el("form", { class: "inline", submit: (event) => { event.preventDefault(); if (path.value.trim()) set([...shown, path.value.trim()]); } },
        path, el("button", { type: "submit" }, "Add")),
      el("datalist", { id: "paths" }, paths().map((value) => el("option", { value })))));
  }

  function paths() {
    return entity.relationships.filter((one) => !one.many).flatMap((one) =>
      (store.byName.get(one.destination)?.attributes ?? []).map((attribute) => `${one.name}.${attribute.name}`));
  }

  const resized = new ResizeObserver(() => draw());
  resized.observe(scroller);
  start();
  return {
    title: entity.name, refresh,
    focusFilter: () => filter.input.focus(),
    leave: () => { generation += 1; resized.disconnect(); for (const abort of wanted.values()) abort.abort(); },
  };
}
