// One panel of the page: its legend, its picture, and what a reader does with pointer and keys.

class Graph {
  constructor(figure, panel, page) {
    Object.assign(this, { figure, panel, page, start: null });
    figure.querySelector("svg")?.remove();
    const caption = htmlElement("figcaption", {}, figure);
    figure.prepend(caption);
    htmlElement("span", { class: "graph-title", id: `title-${panel.id}` }, caption, panel.title);
    this.legend = panel.layers.map((layer) => legendEntry(caption, layer));
    this.here = panel.rows.length ? htmlElement("b", { class: "here" }, caption) : null;
    // A slider over time, to those who do not see it: its value is what the graph shows there.
    this.plot = document.createElement("div");
    caption.after(this.plot);
    const { from, to } = page.view.whole;
    const slider = { class: "plot", tabindex: 0, role: "slider", "aria-labelledby": `title-${panel.id}`, "aria-valuemin": from, "aria-valuemax": to };
    for (const [key, value] of Object.entries(slider)) this.plot.setAttribute(key, value);
    this.svg = svgElement("svg", { class: "graph", width: "100%", "aria-hidden": "true" }, this.plot);
    this.listen();
  }

  /** What it shows in this view and width, before it is known where all plots begin. */
  plan(width = this.plot.clientWidth) {
    this.planned = planned(this.panel, this.page.view, Math.max(240, width));
  }

  draw(left) {
    this.drawn = drawPanel(this.svg, this.panel, this.page.view, this.planned, left);
    const { layers, far } = this.planned;
    layers.forEach((layer, n) => {
      const highest = far.includes(layer) ? extremes([layer], this.page.view)[1] : null;
      this.legend[n].note.textContent = highest === null ? "" : `up to ${written(highest, this.panel.unit)}, above the graph`;
    });
    this.point();
  }

  /** Marks the time that is looked at, with the values there. */
  point() {
    const { at, span, from, to, whole } = this.page.view;
    const { place, x, cursor } = this.drawn;
    const isShown = at !== null && at >= from && at <= to;
    cursor.setAttribute("d", isShown ? `M${(place.left + x(at)).toFixed(1)} ${place.top}v${place.height}` : "");
    const values = this.planned.layers.map((layer) => (isShown ? valueAt(this.panel, layer, at, span) : ""));
    values.forEach((value, n) => { this.legend[n].value.textContent = value; });
    const rows = isShown ? rowsAt(this.panel, at).map((row) => row.label) : [];
    if (this.here) this.here.textContent = rows.join(", ");
    const told = this.panel.layers.map((layer, n) => values[n] && `${layer.label} ${values[n]}`).filter(Boolean).concat(rows);
    this.plot.setAttribute("aria-valuenow", at ?? whole.from);
    this.plot.setAttribute("aria-valuetext", at === null ? "no time chosen" : [timeWithin(at, span), ...told].join(", "));
  }

  /** Where an event is: pixels within the plot, and the time there. */
  placeOf(event) {
    const box = this.svg.getBoundingClientRect();
    const { place } = this.drawn;
    const within = (value, most) => Math.min(Math.max(value, 0), most);
    const x = within(event.clientX - box.left - place.left, place.width);
    const y = within(event.clientY - box.top - place.top, place.height);
    return { x, y, time: this.page.view.from + x / place.width * this.page.view.span };
  }

  listen() {
    this.plot.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.start = this.placeOf(event);
      this.plot.setPointerCapture(event.pointerId);
    });
    this.plot.addEventListener("pointermove", (event) => this.onMove(this.placeOf(event)));
    this.plot.addEventListener("pointerup", (event) => this.onRelease(this.placeOf(event)));
    this.plot.addEventListener("pointercancel", () => this.dropBox());
    this.plot.addEventListener("dblclick", () => this.page.change((view) => view.reset()));
    this.plot.addEventListener("keydown", (event) => onKey(event, this.panel, this.page));
  }

  onMove(place) {
    if (this.start) this.drawBox(this.start, place);
    if (!this.page.view.isPinned) this.page.look(place.time);
  }

  /** A box was drawn: it is what is shown. A click keeps the time, or lets go of it. */
  onRelease(place) {
    const start = this.start;
    this.dropBox();
    if (!start) return;
    const [x1, x2] = [start.x, place.x].sort((a, b) => a - b), [y1, y2] = [start.y, place.y].sort((a, b) => a - b);
    if (x2 - x1 < 4) {
      this.page.change((view) => { view.isPinned = !view.isPinned; view.at = place.time; });
      return;
    }
    const { range: [low, high], place: { height } } = this.drawn;
    const value = (y) => high - (high - low) * y / height;
    const hasHeight = y2 - y1 > 12 && !this.panel.rows.length && this.panel.unit !== "ends";
    this.page.change((view) => {
      view.show(Math.min(start.time, place.time), Math.max(start.time, place.time));
      if (hasHeight) view.heights.set(this.panel.id, [value(y2), value(y1)]);
    });
  }

  drawBox(a, b) {
    const { place, drag } = this.drawn;
    const box = { x: place.left + Math.min(a.x, b.x), y: place.top + Math.min(a.y, b.y), width: Math.abs(a.x - b.x), height: Math.abs(a.y - b.y) };
    for (const [key, value] of Object.entries(box)) drag.setAttribute(key, value);
  }

  dropBox() {
    this.start = null;
    this.drawn.drag.setAttribute("width", 0);
  }
}

/** A sample of a layer with its name; gives where its value goes, and a note. */
const legendEntry = (caption, layer) => {
  const entry = htmlElement("span", { class: "key" }, caption);
  const sample = svgElement("svg", { width: 18, height: 12, "aria-hidden": "true" }, entry);
  const shape = { dots: "M9 6h.01", marks: "M9 6h.01", "rate-marks": "M9 6h.01", rings: "M5 6a4 4 0 1 0 8 0a4 4 0 1 0 -8 0" }[layer.kind] ?? "M1 6h16";
  svgElement("path", { class: `layer ${layer.kind}`, style: `stroke:var(${layer.color})`, d: shape }, sample);
  htmlElement("span", {}, entry, layer.label);
  const note = htmlElement("span", {}, entry);
  return { value: htmlElement("b", {}, entry), note };
};
