// The map and the table of file slices. All values are put into the page as text.
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const MAX_ROWS = 40, MAX_FILES_IN_ROW = 120, MAX_CELLS = 1200, FILES_IN_GROUP = 500;
const { partitions, ways, slices } = data;
const count = slices.partition.length;
const format = new Intl.NumberFormat("en-US");

let colourBy = "index";
let hidden = new Set();          // numbers of categories that are faded and left out of the table
let marked = null;               // bits of the slices that a condition rules out
let scope = [];                  // groups from the whole table to the one that is shown
let table = null;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key in made && key !== "list") made[key] = value; else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}
function drawing(width, height, label) {
  const made = document.createElementNS(SVG, "svg");
  made.setAttribute("viewBox", `0 0 ${width} ${height}`);
  made.setAttribute("preserveAspectRatio", "none");
  if (label) { made.setAttribute("role", "img"); made.setAttribute("aria-label", label); }
  else made.setAttribute("aria-hidden", "true");
  return made;
}
function rectangle(x, width, height, style, faded) {
  const made = document.createElementNS(SVG, "rect");
  made.setAttribute("x", x.toFixed(2));
  made.setAttribute("width", Math.max(width, 0).toFixed(2));
  made.setAttribute("height", height);
  made.setAttribute("class", faded ? style + " faded" : style);
  return made;
}
// A file is sent as what follows its id, because ids are long.
const fileOf = (slice) => {
  const tail = slices.tails[slices.tail[slice]];
  return tail === "" ? `${slices.id[slice]} (log files only)` : tail.startsWith("/") ? tail.slice(1) : slices.id[slice] + tail;
};
const categories = () => data.categories[colourBy];
const categoryOfWay = (way) => data.category_of[colourBy][way];
const categoryOf = (slice) => categoryOfWay(slices.way[slice]);
const isMarked = (slice) => marked !== null && (marked[slice >> 3] >> (slice & 7) & 1) === 1;
const isFaded = (slice) => hidden.has(categoryOf(slice)) || (marked !== null && !isMarked(slice));

// -- groups: a range of partitions, a partition, or a range of files of one

const firstOfPartition = new Int32Array(partitions.length + 1);
for (const partition of slices.partition) firstOfPartition[partition + 1] += 1;
for (let i = 0; i < partitions.length; i += 1) firstOfPartition[i + 1] += firstOfPartition[i];
const totalsOfPartition = Array.from(partitions, () => []);
for (const [partition, way, number] of data.totals) totalsOfPartition[partition].push([way, number]);

function ofPartitions(from, to) {
  const name = to - from === 1 ? partitions[from] : `${partitions[from]} … ${partitions[to - 1]}`;
  return { name, from, to, start: firstOfPartition[from], end: firstOfPartition[to], files: false };
}
function children(group) {
  const width = group.to - group.from;
  if (width > MAX_ROWS) {
    const step = Math.ceil(width / MAX_ROWS), made = [];
    for (let i = group.from; i < group.to; i += step) made.push(ofPartitions(i, Math.min(i + step, group.to)));
    return made;
  }
  if (width > 1) return Array.from({ length: width }, (_, i) => ofPartitions(group.from + i, group.from + i + 1));
  const files = group.end - group.start;
  if (files <= MAX_CELLS) return [];
  const step = Math.max(FILES_IN_GROUP, Math.ceil(files / MAX_ROWS)), first = firstOfPartition[group.from], made = [];
  for (let i = group.start; i < group.end; i += step) {
    const end = Math.min(i + step, group.end);
    made.push({ ...group, name: `files ${format.format(i - first + 1)} to ${format.format(end - first)}`, start: i, end, files: true });
  }
  return made;
}
function sums(group) {
  const found = new Array(categories().length).fill(0);
  if (group.files || marked !== null) {
    for (let i = group.start; i < group.end; i += 1) if (marked === null || isMarked(i)) found[categoryOf(i)] += 1;
  } else {
    for (let p = group.from; p < group.to; p += 1) for (const [way, number] of totalsOfPartition[p]) found[categoryOfWay(way)] += number;
  }
  return found;
}
const sizeOf = (group) => {
  if (group.files) return group.end - group.start;
  let whole = 0;
  for (let p = group.from; p < group.to; p += 1) for (const [, number] of totalsOfPartition[p]) whole += number;
  return whole;
};

// -- the map

// Skipped slices stand first in a bar, then those that are kept.
const drawingOrder = () => [...categories().keys()].slice(2).concat(categories().length > 1 ? [1, 0] : [0]);

function barOf(group, found, whole) {
  const made = drawing(1000, 20);
  made.append(rectangle(0, 1000, 20, "k-empty"));
  let x = 0;
  for (const number of drawingOrder()) {
    const width = 1000 * found[number] / Math.max(whole, 1);
    if (width) made.append(rectangle(x, width, 20, categories()[number][0], hidden.has(number)));
    x += width;
  }
  return made;
}
function filesOf(group) {
  const number = group.end - group.start, made = drawing(1000, 20), step = 1000 / Math.max(number, 8);
  for (let i = 0; i < number; i += 1) {
    const slice = group.start + i;
    made.append(rectangle(i * step, step * 0.86, 20, categories()[categoryOf(slice)][0], isFaded(slice)));
  }
  return made;
}
function rowOf(group) {
  const found = sums(group), whole = sizeOf(group), files = group.end - group.start;
  const inRows = files === whole && files <= MAX_FILES_IN_ROW && group.to - group.from === 1;
  const kept = found[0] + (categories().length > 1 ? found[1] : 0), skipped = found.reduce((sum, one) => sum + one, 0) - kept;
  const text = marked === null ? `${format.format(skipped)} of ${format.format(whole)} skipped` : `${format.format(kept + skipped)} of ${format.format(whole)} ruled out`;
  const button = element("button", { type: "button", className: "map-row" },
    element("span", { className: "name", textContent: group.name }),
    inRows ? filesOf(group) : barOf(group, found, whole),
    element("span", { className: "sums", textContent: text }));
  button.addEventListener("click", () => open(group));
  return element("li", {}, button);
}
function cellsOf(group) {
  const box = element("div", { className: "cells", role: "group", ariaLabel: "Files; arrow keys move" });
  for (let slice = group.start; slice < group.end; slice += 1) {
    const picture = drawing(10, 10);
    const [style] = categories()[categoryOf(slice)];
    picture.append(rectangle(0, 10, 10, style, isFaded(slice)));
    const way = ways[slices.way[slice]];
    box.append(element("button", { type: "button", tabIndex: slice === group.start ? 0 : -1,
      ariaLabel: `${slices.id[slice]}: ${way.state}${way.index ? " by " + way.index : ""}`, title: fileOf(slice) }, picture));
  }
  const cells = box.children;
  box.addEventListener("click", (event) => {
    const cell = event.target.closest("button");
    if (cell) choose(cell, group.start + Array.prototype.indexOf.call(cells, cell));
  });
  box.addEventListener("keydown", (event) => {
    const at = Array.prototype.indexOf.call(cells, document.activeElement);
    if (at < 0) return;
    const inRow = Math.max(1, Math.floor((box.clientWidth + 3) / (cells[0].offsetWidth + 3.2)));
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + inRow, ArrowUp: at - inRow, Home: 0, End: cells.length - 1 }[event.key];
    if (to === undefined || !cells[to]) return;
    event.preventDefault();
    cells[at].tabIndex = -1;
    cells[to].tabIndex = 0;
    cells[to].focus();
  });
  return box;
}
function notListed(group) {
  const more = sizeOf(group) - (group.end - group.start);
  return element("p", { className: "dim", textContent: more ? `${format.format(more)} of its files are not listed on this page.` : "" });
}
function choose(cell, slice) {
  for (const other of cell.parentElement.querySelectorAll("[aria-current]")) other.removeAttribute("aria-current");
  cell.setAttribute("aria-current", "true");
  const way = ways[slices.way[slice]];
  const facts = [["File", fileOf(slice)], ["File id", slices.id[slice]], ["Partition", partitions[slices.partition[slice]]],
    ["Log files", String(slices.logs[slice])], ["State", way.state], ["Decided by", way.index], ["Condition", way.condition]];
  const list = element("dl", { className: "facts" });
  for (const [name, value] of facts) if (value) list.append(element("div", {}, element("dt", { textContent: name }), element("dd", { textContent: value })));
  const id = slices.id[slice], quoted = /^[\w.-]+$/.test(id) ? id : `'${id.replaceAll("'", `'"'"'`)}'`;
  document.getElementById("slice-detail").replaceChildren(list, element("p", { textContent: "Every condition in this file:" }),
    element("div", { className: "command" },
      element("pre", { tabIndex: 0 }, element("code", { textContent: `${data.command} --file ${quoted}` })),
      element("button", { type: "button", className: "copy", textContent: "Copy", "data-copy": "" })));
}
function drawMap() {
  const group = scope[scope.length - 1], made = children(group);
  const crumbs = scope.map((one, place) => {
    if (place === scope.length - 1) return element("li", {}, element("strong", { textContent: one.name }));
    const button = element("button", { type: "button", textContent: one.name });
    button.addEventListener("click", () => { scope = scope.slice(0, place + 1); show(); });
    return element("li", {}, button, " ›");
  });
  document.getElementById("crumbs").replaceChildren(...crumbs);
  document.getElementById("map-body").replaceChildren(
    ...(made.length ? [element("ul", { className: "map" }, ...made.map(rowOf))] : [cellsOf(group), notListed(group)]));
  document.getElementById("slice-detail").replaceChildren();
}
function drawLegend() {
  document.getElementById("map-legend").replaceChildren(...categories().flatMap(([style, label, number], place) => {
    if (!number) return [];
    const box = element("input", { type: "checkbox", checked: !hidden.has(place) });
    box.addEventListener("change", () => { if (box.checked) hidden.delete(place); else hidden.add(place); drawMap(); drawTable(); });
    const swatch = drawing(10, 10);
    swatch.setAttribute("class", "swatch");
    swatch.append(rectangle(0, 10, 10, style));
    return [element("li", {}, element("label", {}, box, swatch, `${label}: ${format.format(number)}`))];
  }));
}
function open(group) {
  scope.push(group);
  show();
  const first = document.querySelector("#crumbs button:last-of-type");
  document.querySelector("#map-body button")?.focus({ preventScroll: true });
  first?.scrollIntoView({ block: "nearest" });
}
function show() { drawMap(); drawTable(); }

// -- the table: DataTables shows one page at a time of what is searched and sorted here, in columns

function chosen() {
  const group = scope[scope.length - 1], found = [];
  for (let i = group.start; i < group.end; i += 1) if (!isFaded(i)) found.push(i);
  return found;
}
const columns = [
  { title: "State", distinct: ways.map((way) => way.state), number: (slice) => slices.way[slice] },
  { title: "Partition", distinct: partitions, number: (slice) => slices.partition[slice] },
  { title: "File", text: (slice) => fileOf(slice) },
  { title: "Log files", text: (slice) => String(slices.logs[slice]), amount: (slice) => slices.logs[slice], className: "num" },
  { title: "Decided by", distinct: ways.map((way) => way.index), number: (slice) => slices.way[slice] },
  { title: "Condition", distinct: ways.map((way) => way.condition), number: (slice) => slices.way[slice] },
];
const textOf = (column, slice) => (column.distinct ? column.distinct[column.number(slice)] : column.text(slice));

function matching(found, search) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  for (const word of words) {
    const known = columns.map((column) => column.distinct && column.distinct.map((text) => text.toLowerCase().includes(word)));
    found = found.filter((slice) => columns.some((column, place) =>
      (known[place] ? known[place][column.number(slice)] : textOf(column, slice).toLowerCase().includes(word))));
  }
  return found;
}
function sorted(found, order) {
  for (const { column: place, dir } of [...order].reverse()) {
    const column = columns[place], sign = dir === "asc" ? 1 : -1;
    let key = column.amount;
    if (column.distinct) {
      const names = [...new Set(column.distinct)].sort(), rank = new Map(names.map((name, at) => [name, at]));
      const ranks = column.distinct.map((name) => rank.get(name));
      key = (slice) => ranks[column.number(slice)];
    }
    if (key) found = [...found].sort((a, b) => sign * (key(a) - key(b)));
    else {
      const texts = new Map(found.map((slice) => [slice, textOf(column, slice)]));
      found = [...found].sort((a, b) => sign * (texts.get(a) < texts.get(b) ? -1 : texts.get(a) > texts.get(b) ? 1 : 0));
    }
  }
  return found;
}
function pageOf(request, answer) {
  const all = chosen(), found = sorted(matching(all, request.search.value), request.order);
  const end = request.length < 0 ? found.length : request.start + request.length;
  answer({
    draw: request.draw, recordsTotal: all.length, recordsFiltered: found.length,
    data: found.slice(request.start, end).map((slice) => columns.map((column) => textOf(column, slice))),
  });
}
function drawTable() {
  const number = chosen().length, group = scope[scope.length - 1], whole = number === data.slices_in_all;
  document.getElementById("files-scope").textContent = (whole ? number === 1 ? "The one file slice." : `All ${format.format(number)} file slices.`
    : `${format.format(number)} of ${format.format(data.slices_in_all)} file slices${scope.length > 1 ? ", of " + group.name : ""}.`)
    + " The map and its legend choose what stands here.";
  if (table !== null) { table.draw(); return; }
  table = new DataTable(document.getElementById("slices"), {
    serverSide: true, ajax: pageOf, processing: false, searchDelay: 0,
    columns: columns.map((column) => ({ title: column.title, className: column.className || "", type: "string", render: DataTable.render.text() })),
    autoWidth: false, pageLength: 25, lengthMenu: [25, 100, 500], order: [], orderClasses: false,
    language: { search: "Search", lengthMenu: "_MENU_ in a page", info: "_START_ to _END_ of _TOTAL_", infoFiltered: "(of _MAX_)", emptyTable: "No file slice", zeroRecords: "No file slice" },
  });
}

// -- what a condition rules out

function bitsOf(text) {
  const raw = atob(text), made = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i += 1) made[i] = raw.charCodeAt(i);
  return made;
}
const markButtons = [...document.querySelectorAll("[data-mark]")];
for (const button of markButtons) {
  button.addEventListener("click", () => {
    const pressed = button.getAttribute("aria-pressed") === "true";
    for (const other of markButtons) other.setAttribute("aria-pressed", "false");
    marked = pressed ? null : bitsOf(data.marked[button.dataset.mark]);
    button.setAttribute("aria-pressed", String(!pressed));
    document.getElementById("map-marked").textContent = pressed ? "" : `Only what ${button.closest(".leaf").querySelector("code").textContent} rules out is shown.`;
    show();
    if (!pressed) document.getElementById("map").scrollIntoView();
  });
}
document.getElementById("colour-by").addEventListener("change", (event) => {
  colourBy = event.target.value;
  hidden = new Set();
  drawLegend();
  show();
});

document.getElementById("map-tools").hidden = false;
scope = [{ ...ofPartitions(0, partitions.length), name: "Table" }];
drawLegend();
drawMap();
document.documentElement.dataset.map = "ready";
setTimeout(() => { drawTable(); document.documentElement.dataset.table = "ready"; }, 0);
