// The page: its graphs, its view and its buttons.

/** The URL is written so long after a change: a held key changes the view more often than browsers let a page write it. */
const ADDRESS_MS = 350;
/** The width of a sheet, in pixels. */
const PAPER = 700;

class Page {
  constructor(group) {
    this.group = group;
    this.data = decoded(group.querySelector("script.graph-data"));
    this.view = new View(this.data.from, this.data.to);
    this.ids = this.data.panels.map((panel) => panel.id);
    this.toolbar(group);
    this.graphs = this.data.panels.map((panel) => new Graph(group.querySelector(`figure[data-panel="${panel.id}"]`), panel, this));
    this.readout = new Readout(this.data, group);
    window.addEventListener("pagehide", () => { if (this.timer) this.writeAddress(); });
    window.addEventListener("hashchange", () => this.open(location.hash));
    new ResizeObserver(() => this.draw()).observe(group);
    // Drawn for a screen, letters would be too small on paper.
    window.addEventListener("beforeprint", () => this.draw(PAPER));
    window.addEventListener("afterprint", () => this.draw());
    this.open(location.hash);
    for (const link of document.querySelectorAll('a[href^="#t="]')) link.addEventListener("click", (event) => this.follow(event, link));
    // With the focus anywhere else than in a graph, which has keys of its own.
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.target.closest?.(".plot") && this.view.at !== null) this.change(letGo);
    });
  }

  /** Shows the time of a link of the page, also of one that was followed before. */
  follow(event, link) {
    event.preventDefault();
    this.open(link.hash);
    try {
      history.pushState(null, "", link.hash);
    } catch {
      // As above: the view is there without its address.
    }
  }

  toolbar(group) {
    const bar = htmlElement("div", { class: "toolbar", role: "toolbar", "aria-label": "View of the graphs" }, group);
    group.prepend(bar);
    const button = (label, change) => {
      const element = htmlElement("button", { type: "button" }, bar, label);
      element.addEventListener("click", () => this.change(change));
      return element;
    };
    button("Zoom in", (view) => view.zoom(0.5));
    button("Zoom out", (view) => view.zoom(2));
    button("Earlier", (view) => view.pan(-0.5));
    button("Later", (view) => view.pan(0.5));
    button("Show all", (view) => view.reset());
    button("Previous retransmission", (view) => toResent(view, this.data, false));
    button("Next retransmission", (view) => toResent(view, this.data, true));
    // Only where a window is too far above the rest to be shown with it.
    this.bounds = button("", (view) => { view.showsBounds = !view.showsBounds; });
  }

  /** Shows what a fragment of a URL says: the graphs come into view, and keys are theirs. */
  open(fragment) {
    this.dropTimer();
    this.view.read(fragment, this.ids);
    this.draw();
    if (this.view.fragment === "" || this.graphs.length === 0) return;
    this.group.scrollIntoView({ block: "start" });
    this.graphs[0].plot.focus({ preventScroll: true });
  }

  /** Changes the view; the URL then shows the same. */
  change(how) {
    const before = this.view.range;
    how(this.view);
    if (this.view.range === before) this.point(); else this.draw();
    this.timer ??= setTimeout(() => this.writeAddress(), ADDRESS_MS);
  }

  /** Puts the view into the URL. */
  writeAddress() {
    this.dropTimer();
    const fragment = this.view.fragment;
    try {
      history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname + location.search);
    } catch {
      // The browser counts more changes than it likes: the next one has this view too.
    }
  }

  dropTimer() {
    clearTimeout(this.timer);
    this.timer = undefined;
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

  /** Draws all graphs, their plots one below the other: as far from the left as the longest word of an axis needs. */
  draw(width) {
    for (const graph of this.graphs) graph.plan(width);
    const left = Math.max(...this.graphs.map((graph) => graph.planned.left));
    for (const graph of this.graphs) graph.draw(left);
    const isFar = this.graphs.some((graph) => graph.planned.far.length > 0);
    this.bounds.hidden = !isFar && !this.view.showsBounds;
    this.bounds.textContent = this.view.showsBounds ? "Hide windows far above" : "Show windows far above";
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
