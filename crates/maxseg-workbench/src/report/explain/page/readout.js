// What there is at the time that is looked at: a value in each legend, and below the graphs the packets near it with the
// display filter that shows them in Wireshark.

/** Packets that are named for a time. */
const NEAR = 6;

const htmlElement = (name, attributes, parent, text) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return parent.appendChild(element);
};

/** The value of a layer at a time, in words; empty where it has none there. */
const valueAt = (panel, layer, time, span) => {
  if (layer.kind === "arrows" || layer.kind === "pieces") return pieceAt(layer, time);
  const index = holds(layer) ? firstFrom(layer.t, time + span * 1e-9) - 1 : nearest(layer.t, time);
  if (index < 0 || !(layer.t.length > 0)) return "";
  const isFar = Math.abs(layer.t[index] - time) > 0.01 * span;
  if (!holds(layer) && isFar) return "";
  return written(layer.v[index], panel.unit);
};

/** How long the piece takes that a time lies in, and how much it carries. */
const pieceAt = (layer, time) => {
  for (let n = 0; n + 1 < layer.t.length; n += 2) {
    if (layer.t[n] <= time && time <= layer.t[n + 1]) {
      const took = written(layer.t[n + 1] - layer.t[n], "time");
      return layer.bytes ? `${written(layer.bytes[n], "bytes")} in ${took}` : took;
    }
  }
  return "";
};

/** The rows that have a bar at a time. */
const rowsAt = (panel, time) => panel.rows.filter((row) => row.spans.some((span) => span.from <= time && time <= span.to));

/** A display filter for packets of the connection, from one number to another. */
const rangeFilter = (data, first, last) => `frame.number >= ${first} && frame.number <= ${last} && ${data.filter_in_range}`;

/** Copies text, also where the page is a file or the browser refuses its clipboard. */
const copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = htmlElement("textarea", { class: "offscreen", "aria-hidden": "true" }, document.body);
    area.value = text;
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    return isDone;
  }
};

/** A button that copies what `text` gives. */
const copyButton = (parent, label, text) => {
  const button = htmlElement("button", { type: "button", class: "copy" }, parent, label);
  button.addEventListener("click", async () => {
    const isDone = await copy(text());
    button.textContent = isDone ? "Copied" : "Select it and copy";
    setTimeout(() => { button.textContent = label; }, 1500);
  });
  return button;
};

class Readout {
  constructor(data, parent) {
    this.data = data;
    this.text = "";
    this.box = htmlElement("section", { class: "readout", "aria-label": "At the time pointed at", hidden: "" }, parent);
    const head = htmlElement("div", { class: "readout-head" }, this.box);
    this.time = htmlElement("strong", {}, head);
    this.timeOfDay = htmlElement("span", { class: "time-of-day" }, head);
    this.state = htmlElement("span", { class: "note" }, head);
    this.packets = htmlElement("ul", { class: "packets" }, this.box);
    const held = new Set(packetLayers(data).flatMap((layer) => [...layer.frames])).size;
    const lacks = `The page holds ${grouped(held)} of the connection's ${grouped(data.packets)} packets: others may be nearer.`;
    if (held < data.packets) htmlElement("p", { class: "note" }, this.box, lacks);
    const line = htmlElement("div", { class: "filter-line" }, this.box);
    this.filter = htmlElement("code", { class: "near-filter" }, line);
    copyButton(line, "Copy filter", () => this.filter.textContent);
    copyButton(line, "Copy packet numbers", () => this.numbers.join(", "));
    this.numbers = [];
  }

  /** Shows a time of a view, or nothing. */
  show(view) {
    this.box.hidden = view.at === null;
    if (view.at === null) return;
    this.time.textContent = timeWithin(view.at, view.span);
    this.timeOfDay.textContent = this.data.begin_us === null ? "" : timeOfDay(this.data.begin_us, view.at);
    this.state.textContent = view.isPinned ? "kept; Esc, or a click in a graph, lets go" : "click or Enter keeps this time";
    const near = packetsNear(this.data, view.at, NEAR);
    this.numbers = near.map((packet) => packet.frame);
    this.packets.replaceChildren();
    // Neighbours are told apart, however much the view shows.
    const apart = near.length > 1 ? near.at(-1).t - near[0].t : view.span;
    for (const packet of near) {
      const words = [...packet.words.values()].join("; ");
      htmlElement("li", {}, this.packets, `packet ${packet.frame}: ${timeWithin(packet.t, Math.min(view.span, Math.max(apart, 1e-6)))}, ${words}`);
    }
    if (near.length === 0) htmlElement("li", {}, this.packets, "the page has no packets of this connection");
    this.filter.textContent = near.length ? rangeFilter(this.data, Math.min(...this.numbers), Math.max(...this.numbers)) : this.data.filter;
  }
}
