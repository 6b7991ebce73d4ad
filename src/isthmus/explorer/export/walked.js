"use strict"
// A walk over objects that were computed beforehand; no part of it asks anybody else.
const data = JSON.parse(document.getElementById("content").textContent)
const plot = JSON.parse(document.getElementById("plot").textContent)
const element = (id) => document.getElementById(id)
const { x: gx, y: gy } = data.grid
let place = [...data.first[0]]
let stops = []
let timer = null
let models = null

const nearest = (values, v) => {
  const step = (values[values.length - 1] - values[0]) / Math.max(values.length - 1, 1)
  const i = Math.round((v - values[0]) / (step || 1))
  return Math.max(0, Math.min(values.length - 1, i))
}
const cellAt = ([x, y]) => nearest(gy, y) * gx.length + nearest(gx, x)

// One of many pictures, cut out of the sheet or made of its own text.
function picture(all, i, label) {
  const part = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  part.setAttribute("viewBox", `0 0 ${all.width} ${all.height}`)
  part.setAttribute("role", "img")
  part.setAttribute("aria-label", label)
  if (all.sheet) {
    const image = document.createElementNS("http://www.w3.org/2000/svg", "image")
    const side = all.across
    image.setAttribute("href", all.sheet)
    image.setAttribute("width", all.width * side)
    image.setAttribute("height", all.height * side)
    image.setAttribute("x", -all.width * (i % side))
    image.setAttribute("y", -all.height * Math.floor(i / side))
    image.style.imageRendering = "pixelated"
    part.append(image)
  } else part.innerHTML = all.bodies[i] // drawn by the library, foreign words escaped
  return part
}

function nearestRow([x, y]) {
  const r = data.rows
  const wide = gx[gx.length - 1] - gx[0]
  const high = gy[gy.length - 1] - gy[0]
  let best = 0
  let least = Infinity
  for (let i = 0; i < r.x.length; i++) {
    const a = (r.x[i] - x) / (wide || 1)
    const b = data.line ? 0 : (r.y[i] - y) / (high || 1)
    if (a * a + b * b < least) [best, least] = [i, a * a + b * b]
  }
  return best
}

function look(at, moved) {
  place = at
  const cell = cellAt(at)
  const row = nearestRow(at)
  const words = at.slice(0, data.line ? 1 : 2).map((v) => v.toPrecision(3)).join(", ")
  element("here").replaceChildren(picture(data.objects, cell, `object at ${words}`))
  element("near").replaceChildren(picture(data.row_pictures, row, `row ${data.rows.number[row]}`))
  const label = data.labels.length ? `, label ${data.labels[row]}` : ""
  element("row").textContent = `nearest row: ${data.rows.number[row]}${label}`
  element("facts").textContent = `place ${words} · support ${data.grid.support[cell].toFixed(2)}`
  if (moved && models) models.cross.data = { x: [at[0]], y: [data.line ? 0 : at[1]] }
}

function way(n = 9) {
  const legs = stops.length - 1
  return Array.from({ length: n }, (_, i) => {
    const t = (i / (n - 1)) * legs
    const k = Math.min(Math.floor(t), legs - 1)
    return [0, 1].map((j) => stops[k][j] + (t - k) * (stops[k + 1][j] - stops[k][j]))
  })
}

function mark(at) {
  const last = stops[stops.length - 1]
  if (last && last[0] === at[0] && last[1] === at[1]) return
  stops = stops.length >= 6 ? [at] : [...stops, at]
  showWay()
}

function showWay() {
  const path = stops.length > 1 ? way() : []
  const pictures = path.map((p, i) => picture(data.objects, cellAt(p), `step ${i + 1}`))
  element("strip").replaceChildren(...pictures)
  if (!models) return
  const column = (list, j) => list.map((p) => (j && data.line ? 0 : p[j]))
  models.stops.data = { x: column(stops, 0), y: column(stops, 1), t: stops.map((_, i) => `${i + 1}`) }
  models.way.data = { x: column(stops, 0), y: column(stops, 1) }
}

function play() {
  clearInterval(timer)
  if (stops.length < 2) return
  const path = way(24)
  let i = 0
  timer = setInterval(() => {
    look(path[i], true)
    i += 1
    if (i >= path.length) clearInterval(timer)
  }, 120)
}

function chip(sign, color, words) {
  const all = document.createElement("span")
  const mark = document.createElement("span")
  all.className = "chip"
  mark.style.color = color
  mark.textContent = sign
  all.append(mark, ` ${words}`)
  return all
}

function recolor(i) {
  const c = data.colors[i]
  const legend = element("legend")
  const title = document.createElement("strong")
  title.textContent = `${c.title} `
  legend.replaceChildren(title)
  if (c.labels) legend.append(...c.labels.map(([color, sign, label]) => chip(sign, color, label)))
  else {
    const ramp = document.createElement("span")
    ramp.className = "ramp"
    ramp.style.background = `linear-gradient(to right, ${c.palette.join(",")})`
    legend.append(`${c.low.toPrecision(3)} `, ramp, ` ${c.high.toPrecision(3)}`)
  }
  models.mapper.setv({ palette: c.palette.map(toColor), low: c.low, high: c.high })
  const m = c.markers ?? c.codes.map(() => "circle")
  models.points.data = { ...models.points.data, c: c.codes, m }
}
const toColor = (hex) => (parseInt(hex.slice(1), 16) * 256 + 255) >>> 0

function paint(theme) {
  document.documentElement.dataset.theme = theme
  element("theme").textContent = theme === "dark" ? "light page" : "dark page"
  const ink = theme === "dark" ? "#f1f3f5" : "#212529"
  const figure = models.figure
  figure.setv({ background_fill_color: null, border_fill_color: null, outline_line_color: null })
  for (const axis of [...figure.left, ...figure.below])
    axis.setv({
      major_label_text_color: ink, axis_label_text_color: ink, axis_line_color: ink,
      major_tick_line_color: ink, minor_tick_line_color: ink,
    })
}

function keys(event) {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }
  if (event.key in step) {
    const [i, j] = [nearest(gx, place[0]), nearest(gy, place[1])]
    const [a, b] = step[event.key]
    const clip = (k, n) => Math.max(0, Math.min(n - 1, k))
    look([gx[clip(i + a, gx.length)], gy[clip(j + b, gy.length)]], true)
  } else if (event.key === "Enter") mark(place)
  else if (event.key === "Escape") { stops = []; showWay() }
  else if (event.key === " ") play()
  else return
  event.preventDefault()
}

async function begin() {
  const views = await Bokeh.embed.embed_item(plot, "plane")
  const figure = views.roots[0].model
  const source = (name) => figure.renderers.find((r) => r.name === name).data_source
  const points = figure.renderers.find((r) => r.name === "points")
  models = { figure, points: points.data_source, mapper: points.glyph.fill_color.transform }
  for (const name of ["cross", "stops", "way"]) models[name] = source(name)
  figure.on_event("mousemove", (e) => Number.isFinite(e.x) && look([e.x, e.y], false))
  // Two quick clicks at different places are told as one double click.
  for (const kind of ["tap", "doubletap"])
    figure.on_event(kind, (e) => { look([e.x, e.y], true); mark([e.x, e.y]) })
  element("plane").addEventListener("keydown", keys)
  element("clear").addEventListener("click", () => { stops = []; showWay() })
  element("play").addEventListener("click", play)
  const choice = element("color")
  data.colors.forEach((c, i) => choice.add(new Option(c.title, i)))
  choice.addEventListener("change", () => recolor(Number(choice.value)))
  const dark = matchMedia("(prefers-color-scheme: dark)").matches
  const wish = new URLSearchParams(location.search).get("theme")
  paint(wish ?? (dark ? "dark" : "light"))
  element("theme").addEventListener("click", () =>
    paint(document.documentElement.dataset.theme === "dark" ? "light" : "dark"))
  recolor(0)
  stops = data.first.map((p) => [...p])
  showWay()
  look(data.first[0], true)
  document.documentElement.dataset.ready = "true"
}
begin()
