"use strict";
const table = document.querySelector("table");
const rows = [...table.tBodies[0].rows];
const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent);
const cell = (row, column) => row.cells[column].textContent;
const filters = document.createElement("div");
filters.className = "filters";
table.parentElement.before(filters);
function control(name, kind) {
  const label = document.createElement("label");
  const made = Object.assign(document.createElement(kind), { name });
  label.append(name, made);
  filters.append(label);
  return made;
}
const picks = ["track", "family", "variant", "view", "structure", "outcome", "pool"]
  .filter((name) => heads.includes(name)).map((name) => control(name, "select"));
for (const pick of picks) {
  pick.column = heads.indexOf(pick.name);
  pick.append(new Option("all", "*"));
  const values = [...new Set(rows.map((row) => cell(row, pick.column)))].sort();
  for (const value of values) pick.append(new Option(value || "–", value));
}
const words = control("words", "input");
words.type = "search";
const told = document.createElement("span");
told.setAttribute("role", "status");
filters.append(told);
function restore() {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const pick of picks) pick.value = asked.get(pick.name) ?? "*";
  for (const pick of picks) if (!pick.value) pick.value = "*";
  words.value = asked.get("words") ?? "";
}
function show() {
  const sought = words.value.trim().toLowerCase();
  let shown = 0;
  for (const row of rows) {
    const fits = picks.every((p) => p.value === "*" || cell(row, p.column) === p.value)
      && row.textContent.toLowerCase().includes(sought);
    row.hidden = !fits;
    shown += fits;
  }
  told.textContent = `${shown} of ${rows.length} tasks`;
  const asked = new URLSearchParams();
  for (const pick of picks) if (pick.value !== "*") asked.set(pick.name, pick.value);
  if (sought) asked.set("words", words.value);
  history.replaceState(null, "", asked.size ? `#${asked}` : location.pathname);
}
restore();
show();
for (const pick of picks) pick.addEventListener("change", show);
words.addEventListener("input", show);
