"use strict";
const rows = [...document.querySelectorAll("#tasks tbody tr")];
const picks = [...document.querySelectorAll("select[data-column]")];
const words = document.querySelector("#words");
const told = document.querySelector("#told");
const cell = (row, column) => row.children[column].textContent;
for (const pick of picks) {
  const values = [...new Set(rows.map((row) => cell(row, pick.dataset.column)))].sort();
  for (const value of values) pick.append(new Option(value || "–", value));
}
function kept() {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const pick of picks) pick.value = asked.get(pick.name) ?? "*";
  for (const pick of picks) if (!pick.value) pick.value = "*";
  words.value = asked.get("words") ?? "";
}
function show() {
  const sought = words.value.trim().toLowerCase();
  let shown = 0;
  for (const row of rows) {
    const fits = picks.every((p) => p.value === "*" || cell(row, p.dataset.column) === p.value)
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
kept();
show();
for (const pick of picks) pick.addEventListener("change", show);
words.addEventListener("input", show);
