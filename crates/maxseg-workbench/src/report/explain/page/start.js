// The page: its graphs, its view and its buttons.

class Page {
  constructor(group) {
    this.data = decoded(group.querySelector("script.graph-data"));
    this.view = new View(this.data.from, this.data.to);
    this.ids = this.data.panels.map((panel) => panel.id);
    this.toolbar(group);
    this.graphs = this.data.panels.map((panel) => new Graph(group.querySelector(`figure[data-panel="${panel.id}"]`), panel, this));
    this.readout = new Readout(this.data, group);
    window.addEventListener("hashchange", () => this.open(location.hash));
    new ResizeObserver(() => this.draw()).observe(group);
    this.open(location.hash);
  }

  toolbar(group) {
    const bar = htmlElement("div", { class: "toolbar", role: "toolbar", "aria-label": "View of the graphs" }, group);
    group.prepend(bar);
    const button = (label, change) => htmlElement("button", { type: "button" }, bar, label).addEventListener("click", () => this.change(change));
    button("Zoom in", (view) => view.zoom(0.5));
    button("Zoom out", (view) => view.zoom(2));
    button("Show all", (view) => view.reset());
    button("Previous retransmission", (view) => keep(view, nextResent(this.data, view.at ?? view.to + 1, false)));
    button("Next retransmission", (view) => keep(view, nextResent(this.data, view.at ?? view.from - 1, true)));
  }

  /** Shows what a fragment of a URL says. */
  open(fragment) {
    this.view.read(fragment, this.ids);
    this.draw();
  }

  /** Changes the view; the URL then shows the same. */
  change(how) {
    const before = this.view.range;
    how(this.view);
    const fragment = this.view.fragment;
    history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname + location.search);
    if (this.view.range === before) this.point(); else this.draw();
  }

  /** Looks at a time without keeping it. */
  look(time) {
    this.view.at = time;
    this.point();
  }

  /** Marks the time that is looked at. */
  point() {
    for (const graph of this.graphs) graph.point();
    this.readout.show(this.view);
  }

  draw() {
    for (const graph of this.graphs) graph.draw();
    this.readout.show(this.view);
  }
}

for (const code of document.querySelectorAll("code.filter")) copyButton(code.parentElement, "Copy filter", () => code.textContent);
for (const code of document.querySelectorAll("pre > code")) {
  code.parentElement.after(copyButton(code.parentElement, "Copy command", () => code.textContent));
}
// What may be wider than the screen can be scrolled with keys.
for (const box of document.querySelectorAll("pre, .wide")) box.tabIndex = 0;
for (const group of document.querySelectorAll(".linked")) group.page = new Page(group);
