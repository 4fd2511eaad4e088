// A graph of a panel, drawn anew for each view: its width is that of the page, so that letters keep their size.

/** Below this width, names of rows stand above their bars. */
const NARROW = 640;
const ROW = { high: 22, narrow: 36 };
const FOOT = 24;
/** Room right of the plot, and the width of a letter of an axis, in pixels. */
const RIGHT = 22;
const LETTER = 7;
/** Room left of the plot, at least. */
const LEFT = { narrow: 74, wide: 156 };
/** A rate is a mean over so many pixels. */
const MEAN_OVER = 2;
/** A bar is no shorter, in pixels. */
const SHORTEST = 3;
/** A bound above so many times the largest of what it bounds is not shown. */
const FAR = 3;
/** Bytes of a segment, about: a sequence of no more is flat. */
const FLAT = 1500;

const svgElement = (name, attributes, parent, text) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return parent.appendChild(element);
};

/** Where the plot lies within `width`, `left` from its edge. */
const placed = (panel, width, left) => {
  const isNarrow = width < NARROW;
  const rows = panel.rows.length * (isNarrow ? ROW.narrow : ROW.high);
  return { isNarrow, left, width: Math.max(40, width - left - RIGHT), top: 6, height: panel.rows.length ? rows + 6 : panel.height };
};

/** The values of an axis that are written, with their words: ticks with their unit, or the two ends of a ladder. */
const heightWords = (panel, [low, high], isNarrow) => {
  if (panel.rows.length) return { values: [], words: [] };
  const values = panel.unit === "ends" ? [0, 1] : ticks(low, high, isNarrow ? 4 : 5);
  return { values, words: panel.unit === "ends" ? panel.ends : axisWords(values, panel.unit) };
};

/** What a panel shows of a view: its layers, the range of its values with their words, and the room that those need. */
const planned = (panel, view, width) => {
  const isNarrow = width < NARROW;
  const least = MEAN_OVER * view.span / Math.max(40, width - LEFT.wide - RIGHT);
  const layers = panel.layers.map((layer) => (isRate(layer) ? means(layer, least) : layer));
  const { range, far } = rangeOf(panel, layers, view);
  const axis = heightWords(panel, range, isNarrow);
  const longest = Math.max(0, ...axis.words.map((word) => word.length));
  return { width, layers, range, far, axis, left: Math.max(isNarrow ? LEFT.narrow : LEFT.wide, LETTER * longest + 12) };
};

/** From so much before the view to so much after it: indices of a layer. */
const shownOf = (layer, view) => {
  const from = Math.max(0, firstFrom(layer.t, view.from) - 1);
  return [from, Math.min(layer.t.length, firstFrom(layer.t, view.to) + 1)];
};

const holds = (layer) => layer.kind === "steps" || layer.kind === "line" || isRate(layer);

/** The least and the largest value of layers in a view. */
const extremes = (layers, view) => {
  let [low, high] = [Infinity, -Infinity];
  for (const layer of layers) {
    const [from, to] = shownOf(layer, view);
    for (let n = from; n < to; n++) {
      // A value that holds until the next is shown, however long ago it began; a dot before the view is not.
      if (layer.t[n] > view.to || (layer.t[n] < view.from && !holds(layer))) continue;
      low = Math.min(low, layer.v[n]);
      high = Math.max(high, layer.v[n] + heightOf(layer, n));
    }
  }
  return [low, high];
};

/** The values that a panel shows of its axis, those in view with some air or what the reader chose; and bounds far above them. */
const rangeOf = (panel, layers, view) => {
  if (panel.rows.length || panel.unit === "ends") return { range: [-0.12, 1.12], far: [] };
  const isOffset = panel.id.startsWith("sequence") && !view.isWhole;
  const [others, bounds] = [false, true].map((isBound) => extremes(layers.filter((layer) => layer.is_bound === isBound), view));
  // A bound far above the rest does not flatten it: above the least in view, where the axis begins there.
  const base = isOffset ? others[0] : 0;
  const isFar = !view.showsBounds && others[1] > 0 && bounds[1] - base > FAR * Math.max(others[1] - base, FLAT);
  let [low, high] = isFar ? others : [Math.min(others[0], bounds[0]), Math.max(others[1], bounds[1])];
  if (low > high) [low, high] = [0, 1];
  if (!isOffset) low = Math.min(low, 0);
  const air = 0.05 * (high - low || (isOffset ? 20 * FLAT : Math.abs(high)) || 1);
  const range = view.heights.get(panel.id) ?? [isOffset ? low - air : low, high + air];
  return { range, far: layers.filter((layer) => isFar && layer.is_bound && extremes([layer], view)[1] > range[1]) };
};

/** The points of a line in pixels; of those in one column the first, the extremes and the last. */
const columns = (layer, view, x, y) => {
  const [from, to] = shownOf(layer, view);
  const points = [];
  for (let n = from; n < to;) {
    const column = Math.round(x(layer.t[n]));
    let [least, most, last] = [n, n, n];
    let next = n + 1;
    for (; next < to && Math.round(x(layer.t[next])) === column; next++) {
      if (layer.v[next] < layer.v[least]) least = next;
      if (layer.v[next] > layer.v[most]) most = next;
      last = next;
    }
    for (const index of [...new Set([n, least, most, last])].sort((a, b) => a - b)) {
      points.push([x(layer.t[index]), y(layer.v[index])]);
    }
    n = next;
  }
  return points;
};

/** Dots in view, one for each pixel. */
const dots = (layer, view, x, y) => {
  const seen = new Set();
  const points = [];
  const to = firstFrom(layer.t, view.to);
  for (let n = firstFrom(layer.t, view.from); n < to || layer.t[n] === view.to; n++) {
    if (layer.kind === "rate-marks" && layer.v[n] === 0) continue;
    // A segment reaches from its first byte to its last.
    const point = [x(layer.t[n]), y(layer.v[n]), y(layer.v[n] + heightOf(layer, n))];
    const pixel = point.map(Math.round).join();
    if (!seen.has(pixel)) points.push(point);
    seen.add(pixel);
  }
  return points;
};

const at = ([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`;

/** Pieces between two points each, with a head where they are arrows and few. */
const pieces = (layer, view, x, y) => {
  let path = "";
  const visible = [];
  for (let n = 0; n + 1 < layer.t.length; n += 2) {
    if (layer.t[n + 1] >= view.from && layer.t[n] <= view.to) visible.push(n);
  }
  for (const n of visible) {
    const [a, b] = [[x(layer.t[n]), y(layer.v[n])], [x(layer.t[n + 1]), y(layer.v[n + 1])]];
    path += `M${at(a)}L${at(b)}`;
    if (layer.kind === "arrows" && visible.length < 150) path += arrowHead(a, b);
  }
  return path;
};

const arrowHead = (a, b) => {
  const angle = Math.atan2(b[1] - a[1], b[0] - a[0]);
  const barb = (turn) => [b[0] - 7 * Math.cos(angle + turn), b[1] - 7 * Math.sin(angle + turn)];
  return `M${at(barb(0.45))}L${at(b)}L${at(barb(-0.45))}`;
};

/** The path of a layer. */
const pathOf = (layer, view, x, y) => {
  switch (layer.kind) {
    case "line": return columns(layer, view, x, y).map((point, n) => (n ? "L" : "M") + at(point)).join("");
    case "steps": case "rates": {
      const steps = columns(layer, view, x, y).map(([px, py], n) => (n ? `H${px.toFixed(1)}V${py.toFixed(1)}` : `M${at([px, py])}`));
      // The last value holds until the end.
      const isLast = steps.length > 0 && layer.t[layer.t.length - 1] <= view.to;
      return steps.join("") + (isLast ? `H${x(Math.min(view.to, view.whole.to)).toFixed(1)}` : "");
    }
    case "rings": return dots(layer, view, x, y).map(([px, py]) => `M${at([px - 5, py])}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0`).join("");
    case "arrows": case "pieces": return pieces(layer, view, x, y);
    default: return dots(layer, view, x, y)
      .map(([px, py, top]) => `M${at([px, py])}${py - top > 0.05 ? `V${top.toFixed(1)}` : ""}h.01`).join("");
  }
};

/** The axis of the values. */
const drawHeights = (svg, place, { values, words }, y) => {
  values.forEach((value, n) => {
    const at = place.top + y(value);
    svgElement("path", { class: "grid", d: `M${place.left} ${at.toFixed(1)}h${place.width}` }, svg);
    svgElement("text", { class: "tick", "text-anchor": "end", x: place.left - 8, y: at + 4 }, svg, words[n]);
  });
};

const drawTimes = (svg, place, view, x) => {
  const values = ticks(view.from, view.to, Math.max(2, Math.floor(place.width / (place.isNarrow ? 90 : 110))));
  const words = axisWords(values, "time");
  const bottom = place.top + place.height;
  svgElement("path", { class: "grid", d: `M${place.left} ${bottom}h${place.width}` }, svg);
  values.forEach((value, n) => {
    const at = place.left + x(value);
    // What would be cut off at the right stands a little before its tick.
    const most = place.left + place.width + RIGHT - LETTER * words[n].length / 2;
    svgElement("path", { class: "grid", d: `M${at.toFixed(1)} ${bottom}v5` }, svg);
    svgElement("text", { class: "tick", "text-anchor": "middle", x: Math.min(at, most), y: bottom + 18 }, svg, words[n]);
  });
};

/** Rows of bars, each with its name at its side. */
const drawRows = (svg, plot, panel, place, view, x) => {
  const high = place.isNarrow ? ROW.narrow : ROW.high;
  panel.rows.forEach((row, index) => {
    const middle = 3 + high * index + (place.isNarrow ? high - 9 : high / 2);
    const label = place.isNarrow
      ? { x: 4, y: place.top + middle - 11, "text-anchor": "start" }
      : { x: place.left - 8, y: place.top + middle + 4, "text-anchor": "end" };
    svgElement("text", { class: "tick row", ...label }, svg, row.label);
    svgElement("path", { class: "grid", d: `M0 ${middle}h${place.width}` }, plot);
    for (const span of row.spans) {
      if (span.to < view.from || span.from > view.to) continue;
      // What is at the end, and short, is still seen.
      const from = Math.min(Math.max(-4, x(span.from)), place.width - SHORTEST), to = Math.min(place.width + 4, x(span.to));
      const bar = svgElement("path", { class: "bar", style: `stroke:var(${row.color})`, d: `M${from.toFixed(1)} ${middle}H${Math.max(to, from + SHORTEST).toFixed(1)}` }, plot);
      svgElement("title", {}, bar, span.text);
    }
  });
};

/** Draws what is planned of a panel. Gives where things lie, for what points at them. */
const drawPanel = (svg, panel, view, { width, layers, range, axis }, left) => {
  const place = placed(panel, width, left);
  const x = (time) => (time - view.from) / view.span * place.width;
  const y = (value) => (range[1] - value) / (range[1] - range[0]) * place.height;
  const all = place.top + place.height + FOOT;
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${all}`);
  svg.setAttribute("height", all);
  drawHeights(svg, place, axis, y);
  drawTimes(svg, place, view, x);
  const plot = svgElement("svg", { class: "inner", x: place.left, y: place.top, width: place.width, height: place.height }, svg);
  svgElement("rect", { class: "field", width: place.width, height: place.height, fill: "transparent" }, plot);
  for (const layer of layers) {
    svgElement("path", { class: `layer ${layer.kind}`, "data-layer": layer.label, style: `stroke:var(${layer.color})`, d: pathOf(layer, view, x, y) }, plot);
  }
  drawRows(svg, plot, panel, place, view, x);
  const cursor = svgElement("path", { class: "cursor", d: "" }, svg);
  const drag = svgElement("rect", { class: "drag", width: 0, height: 0 }, svg);
  return { place, range, x, cursor, drag };
};
