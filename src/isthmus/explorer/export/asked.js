"use strict"
// Answers that were computed beforehand; no part of it asks anybody else.
const rows = JSON.parse(document.getElementById("content").textContent)
const element = (id) => document.getElementById(id)

function show(i) {
  const at = Math.max(0, Math.min(rows.length - 1, i))
  const one = rows[at]
  element("row").value = at
  element("which").textContent = `${one.row} (${at + 1} of ${rows.length})`
  // Drawn by the library, foreign words escaped.
  for (const part of ["pictures", "certain", "pairs"]) element(part).innerHTML = one[part]
  history.replaceState(null, "", `#row=${one.row}`)
}

function paint(theme) {
  document.documentElement.dataset.theme = theme
  element("theme").textContent = theme === "dark" ? "light page" : "dark page"
}

const now = () => Number(element("row").value)
element("row").max = rows.length - 1
element("row").addEventListener("input", () => show(now()))
element("back").addEventListener("click", () => show(now() - 1))
element("on").addEventListener("click", () => show(now() + 1))
element("theme").addEventListener("click", () =>
  paint(document.documentElement.dataset.theme === "dark" ? "light" : "dark"))
const wish = new URLSearchParams(location.search).get("theme")
paint(wish ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"))
const told = rows.findIndex((one) => `#row=${one.row}` === location.hash)
show(Math.max(told, 0))
document.documentElement.dataset.ready = "true"
