// The answer has come. Straight into the page with it: a property of a model would be laid out anew
// and sent back.
for (const [name, model] of Object.entries({ here, near, facts })) {
  const view = Bokeh.index.find_one(model)
  if (view) view.markup_el.innerHTML = reply.data[name][0]
}
// Where the pointer has asked, note how long it took until it was drawn, then ask for the next place.
const state = window.isthmus
const n = reply.data.n[0]
if (state && n > 0) {
  state.busy = -1e9
  requestAnimationFrame(() => {
    if (performance.getEntriesByName(`pointer ${n}`).length) {
      performance.measure("pointer to picture", `pointer ${n}`)
      performance.clearMarks(`pointer ${n}`)
    }
  })
  state.send?.()
}
