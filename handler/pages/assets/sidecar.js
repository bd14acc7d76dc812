// The sidecar's page: shows the document that came with it, then asks for a new one every few seconds.
const SECONDS = 5;
const byId = (id) => document.getElementById(id);
const number = (value) => Math.round(value).toLocaleString("en-US");
const SVG = "http://www.w3.org/2000/svg";
let shown = JSON.parse(byId("data").textContent);
let paused = false;

// What cannot be seen in a text, and what turns its direction, as escapes.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
const visible = (text) => String(text).replace(HIDDEN, (char) => "\\u" + char.charCodeAt(0).toString(16).padStart(4, "0"));

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.map((child) => (child instanceof Node ? child : visible(child))));
  return made;
}
function shape(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
function percent(part, whole) {
  if (!whole || !part) return "0 %";
  if (part === whole) return "100 %";
  const share = (100 * part) / whole;
  return (share < 1 || share > 99 ? Math.min(Math.max(share, 0.1), 99.9).toFixed(1) : share.toFixed(0)) + " %";
}
function bytes(count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (count >= 1024 && unit < units.length - 1) { count /= 1024; unit += 1; }
  return (count >= 10 || !unit ? count.toFixed(0) : count.toFixed(1)) + " " + units[unit];
}
function ago(seconds) {
  if (seconds < 2) return "now";
  if (seconds < 120) return `${Math.round(seconds)} s ago`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86400)} days ago`;
}
const counted = (count, one, many) => `${number(count)} ${count === 1 ? one : many}`;
const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString("en-GB");

// Bars and tables.
function bar(part, whole, label, style = "k-d0") {
  const made = shape("svg", { class: "bar thin", viewBox: "0 0 1000 20", preserveAspectRatio: "none" });
  if (label) { made.setAttribute("role", "img"); made.setAttribute("aria-label", label); } else made.setAttribute("aria-hidden", "true");
  made.append(shape("rect", { class: "k-empty", width: 1000, height: 20 }));
  made.append(shape("rect", { class: style, width: whole ? ((1000 * part) / whole).toFixed(1) : 0, height: 20 }));
  return made;
}
function fill(id, heads, rows, empty) {
  const table = byId(id);
  if (table.contains(document.activeElement) && document.activeElement !== table) return; // not while somebody is in it
  if (!rows.length) { table.replaceChildren(element("tbody", {}, element("tr", {}, element("td", { class: "dim" }, empty)))); return; }
  // "#Files" is a column of numbers, "=When" one whose texts are not broken; on a narrow screen each cell has its name.
  const styles = heads.map((text) => ({ "#": "num", "=": "whole" })[text[0]] ?? "wrap"), names = heads.map((text) => text.replace(/^[#=]/, ""));
  const head = element("tr", {}, ...names.map((text, i) => element("th", { scope: "col", class: styles[i] }, text)));
  const body = rows.map((cells) => element("tr", {}, ...cells.map((cell, i) =>
    element("td", { class: styles[i], "data-label": names[i] }, element("div", {}, ...(Array.isArray(cell) ? cell : [cell ?? ""]))))));
  table.className = "stack";
  table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...body));
}
function facts(id, items) {
  byId(id).replaceChildren(...items.filter(([, value]) => value !== "").map(([name, value, style]) =>
    element("div", {}, element("dt", {}, name), element("dd", style ? { class: style } : {}, value))));
}

function showSums(doc) {
  const sums = doc.sums;
  byId("headline").textContent = sums.listed
    ? `${percent(sums.skipped, sums.listed)} of the listed files were skipped`
    : doc.sums.answers ? "No files were listed yet" : "No question yet";
  const state = { ok: "Answers questions", starting: "Is opening its tables", stopping: "Is stopping" }[doc.status] ?? doc.status;
  byId("state").textContent = `${state}, version ${doc.version}, started ${ago(doc.now - doc.began)}.` + (doc.shadow ? " Shadow mode: it reports what could be skipped, and every file is read." : "");
  const whole = bar(sums.skipped, sums.listed, `${percent(sums.skipped, sums.listed)} of the listed files were skipped`);
  whole.setAttribute("class", "bar");
  byId("sum-bar").replaceChildren(whole);
  facts("sums", [
    ["Questions answered", number(sums.answers)],
    ["Files listed", number(sums.listed)],
    ["Files skipped", number(sums.skipped)],
    ["Could be skipped", sums.could_skip === sums.skipped ? "" : number(sums.could_skip)],
    ["Memory of the tables", `${bytes(sums.cache_bytes)} of ${bytes(sums.cache_limit)}`],
  ]);
}
function showTables(doc) {
  fill("table-list", ["Table", "State", "=Commit", "Version", "=Looked at", "#Files", "#Memory", "#Questions", "Skipped"],
    doc.tables.map((one) => [
      [element("strong", {}, one.table.replace(/\/$/, "").split("/").pop() || one.table), element("br"), element("span", { class: "dim" }, one.table)],
      [element("span", { class: one.state === "current" ? "good" : "warn" }, one.state), ...(one.why ? [element("br"), element("span", { class: "dim" }, one.why)] : [])],
      one.instant ?? "none",
      `${one.type.replaceAll("_", " ").toLowerCase()}${one.table_version == null ? "" : ", version " + one.table_version}`,
      one.age == null ? "" : ago(one.age),
      number(one.slices), bytes(one.bytes), number(one.answers),
      one.listed ? [bar(one.skipped, one.listed), `${percent(one.skipped, one.listed)} of ${number(one.listed)}`] : "",
    ]), "No table was asked for yet.");
}
function showTime(doc) {
  const period = doc.period_seconds, count = 120, end = Math.floor(doc.now / period) * period;
  const known = new Map(doc.history.map((one) => [one[0], one]));
  byId("time-lead").textContent = `The share of the listed files that was skipped, by ${period} seconds, in the last hour. A gap is a time without questions.`;
  const picture = shape("svg", { class: "ranges", viewBox: `0 0 ${count} 100`, preserveAspectRatio: "none", role: "img", "aria-label": `Share of skipped files over the last hour: ${counted(doc.history.length, "period", "periods")} with questions; the table below has the numbers` });
  for (let i = 0; i < count; i += 1) {
    const one = known.get(end - (count - 1 - i) * period);
    if (!one || !one[2]) continue;
    const share = (100 * one[3]) / one[2];
    const title = `${clock(one[0])}: ${percent(one[3], one[2])} of ${number(one[2])} files, ${counted(one[1], "question", "questions")}`;
    picture.append(shape("g", {}, (() => { const t = document.createElementNS(SVG, "title"); t.textContent = title; return t; })(),
      shape("rect", { class: "k-kept", x: i + 0.08, y: 0, width: 0.84, height: 100 - share }),
      shape("rect", { class: "k-d0", x: i + 0.08, y: 100 - share, width: 0.84, height: share })));
  }
  const legend = element("ul", { class: "legend", "aria-label": "Colours" }, ...[["k-d0", "skipped"], ["k-kept", "read"]].map(([style, text]) => {
    const swatch = shape("svg", { class: "swatch", "aria-hidden": "true", viewBox: "0 0 10 10" }, shape("rect", { class: style, width: 10, height: 10, rx: 2 }));
    return element("li", {}, swatch, " " + text);
  }));
  const axis = element("div", { class: "axis" }, element("span", {}, clock(end - (count - 1) * period)), element("span", {}, clock(end)));
  byId("time-chart").replaceChildren(picture, axis, legend);
  fill("time-list", ["=From", "#Questions", "#Files listed", "#Skipped", "Share"],
    [...doc.history].reverse().map((one) => [clock(one[0]), number(one[1]), number(one[2]), number(one[3]), percent(one[3], one[2])]), "No question in the last hour.");
}
function showQuestions(doc) {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean), onlyNothing = byId("only-nothing").checked;
  const asked = doc.questions.filter((one) => {
    const text = [one.table, one.user, one.query, one.filter ?? "", one.because, ...one.reasons].join(" ").toLowerCase();
    return (!onlyNothing || !one.skipped) && words.every((word) => text.includes(word));
  });
  byId("questions-lead").textContent = `The latest ${number(asked.length)}${asked.length === doc.questions.length ? "" : " of " + number(doc.questions.length)}, newest first.` +
    (doc.log_values ? "" : " Filters and reasons are shown with the setting log_values; the explanation of a question shows both.");
  const heads = ["=When", "Who", "=Table", ...(doc.log_values ? ["Filter"] : []), "#Files", "Skipped", "Why not more", "#ms", "=Explanation"];
  fill("question-list", heads, asked.map((one) => [
    element("span", { title: new Date(one.when * 1000).toISOString() }, ago(doc.now - one.when)),
    [one.user || "not named", ...(one.query ? [element("br"), element("span", { class: "dim" }, one.query)] : [])],
    element("span", { title: one.table }, one.table.replace(/\/$/, "").split("/").pop() || one.table),
    ...(doc.log_values ? [element("code", {}, one.filter || "not read")] : []),
    number(one.listed),
    [bar(one.skipped, one.listed), `${number(one.skipped)} (${percent(one.skipped, one.listed)})`, ...(one.could_skip === one.skipped ? [] : [element("br"), `${number(one.could_skip)} could be`])],
    [one.because, ...one.reasons.filter((text) => text !== one.because).flatMap((text, i) => (i || one.because ? [element("br"), text] : [text]))],
    one.milliseconds < 10 ? one.milliseconds.toFixed(1) : number(one.milliseconds),
    element("a", { href: "explain?id=" + encodeURIComponent(one.id), "aria-label": `Explain the question of ${one.user || "an unnamed user"}, ${ago(doc.now - one.when)}` }, "Explain"),
  ]), doc.questions.length ? "No question matches." : "No question yet.");
}
function showColumns(doc) {
  fill("column-list", ["Column", "Table", "#Asked", "What would help"],
    doc.columns.map((one) => [element("code", {}, one.column), one.table, number(one.asked), element("code", {}, one.command)]),
    "Every column that was asked for has an index.");
}
function showHealth(doc) {
  const sums = doc.sums, wrong = doc.tables.filter((one) => one.state === "wrong skip").length;
  const refused = Object.entries(sums.refused).map(([code, count]) => `${code} ${number(count)}`).join(", ");
  facts("health-facts", [
    ["Tables that cannot be read", number(sums.breakers), sums.breakers ? "warn" : "good"],
    ["Answered from an earlier state", number(sums.kept), sums.kept ? "warn" : "good"],
    ["Audited files", Object.entries(sums.audits).filter(([, count]) => count).map(([verdict, count]) => `${verdict} ${number(count)}`).join(", ") || "none", sums.audits.failed ? "warn" : ""],
    ["Refused calls", refused || "none"],
    ["Failed calls", number(sums.failed), sums.failed ? "warn" : "good"],
  ]);
  fill("nothing-list", ["Cause", "#Answers"], Object.entries(doc.because).sort((a, b) => b[1] - a[1]).map(([text, count]) => [text, number(count)]), "Every answer skipped something.");
  fill("error-list", ["=When", "=Level", "What"], doc.errors.map((one) => [ago(doc.now - one.when), element("span", { class: "warn" }, one.level), element("code", {}, one.text)]), "None.");
  byId("trouble").textContent = wrong || sums.audits.failed ? "An audit found a wrong skip. The table is not pruned any more: see its log, and report it." : "";
}
function show() {
  for (const part of [showSums, showTables, showTime, showQuestions, showColumns, showHealth]) part(shown);
  byId("updated").textContent = `${paused ? "Paused; state" : "State"} of ${clock(shown.now)}`;
}

async function update() {
  if (paused || document.hidden) return;
  try {
    const answer = await fetch("status.json", { cache: "no-store", credentials: "same-origin" });
    if (!answer.ok) throw new Error(answer.status === 401 ? "the secret is asked for again: load the page anew" : `status ${answer.status}`);
    shown = await answer.json();
    show();
  } catch (error) {
    byId("updated").textContent = `No answer since ${clock(shown.now)} (${error instanceof TypeError ? "the sidecar cannot be reached" : error.message}); asking again`;
  }
}
byId("pause").addEventListener("click", () => {
  paused = !paused;
  byId("pause").setAttribute("aria-pressed", String(paused));
  byId("updated").textContent = `${paused ? "Paused; state" : "State"} of ${clock(shown.now)}`;
  update();
});
byId("search").addEventListener("input", () => showQuestions(shown));
byId("only-nothing").addEventListener("change", () => showQuestions(shown));
document.addEventListener("visibilitychange", update);
show();
setInterval(update, SECONDS * 1000);
