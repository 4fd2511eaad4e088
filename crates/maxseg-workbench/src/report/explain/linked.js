"use strict";
// One moment in all graphs: pointing shows it, dragging zooms in on all of them, a double click zooms out.
for (const group of document.querySelectorAll(".linked")) {
  const whole = { from: +group.dataset.from, to: +group.dataset.to };
  let shown = { ...whole };
  const panels = [...group.querySelectorAll("svg.panel")].map((svg) => {
    const plot = svg.querySelector("svg.plot");
    const box = plot.viewBox.baseVal;
    return { svg, plot, width: box.width, height: box.height, top: 0, bottom: box.height,
      low: +svg.dataset.low, high: +svg.dataset.high,
      left: +plot.getAttribute("x"), above: +plot.getAttribute("y"), ys: svg.querySelector(".ys").innerHTML };
  });
  const make = (name, attributes, parent) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return parent.appendChild(element);
  };
  for (const panel of panels) {
    panel.cursor = make("path", { class: "cursor", d: "" }, panel.svg);
    panel.drag = make("rect", { class: "drag", width: 0, height: 0 }, panel.svg);
  }
  const time = (s, span) => {
    const digits = Math.max(0, Math.min(9, 2 - Math.floor(Math.log10(span))));
    return s.toFixed(digits) + " s";
  };
  const ticks = (from, to) => {
    const rough = (to - from) / 8, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
    const list = [];
    for (let n = Math.ceil(from / step); n * step <= to; n++) list.push(n * step);
    return list;
  };
  const draw = () => {
    const span = shown.to - shown.from, all = whole.to - whole.from;
    for (const p of panels) {
      const x = (shown.from - whole.from) / all * p.width, width = span / all * p.width;
      p.plot.setAttribute("viewBox", `${x} ${p.top} ${width} ${p.bottom - p.top}`);
      const xs = p.svg.querySelector(".xs");
      xs.replaceChildren();
      for (const t of ticks(shown.from, shown.to)) {
        const at = p.left + (t - shown.from) / span * p.width, y = p.above + p.height;
        make("path", { class: "grid", d: `M${at} ${y}v5` }, xs);
        make("text", { class: "soft", "text-anchor": "middle", x: at, y: y + 19 }, xs).textContent = time(t, span);
      }
      const ys = p.svg.querySelector(".ys");
      if (p.top === 0 && p.bottom === p.height) { ys.innerHTML = p.ys; continue; }
      ys.replaceChildren();
      const value = (y) => p.high - (p.high - p.low) * y / p.height;
      for (const v of ticks(value(p.bottom), value(p.top))) {
        const y = p.above + (value(p.top) - v) / (value(p.top) - value(p.bottom)) * p.height;
        make("path", { class: "grid", d: `M${p.left} ${y}h${p.width}` }, ys);
        const text = make("text", { class: "soft", "text-anchor": "end", x: p.left - 8, y: y + 4 }, ys);
        text.textContent = v.toLocaleString("en", { maximumSignificantDigits: 6 });
      }
    }
  };
  const place = (panel, event) => {
    const box = panel.svg.getBoundingClientRect(), scale = panel.svg.viewBox.baseVal.width / box.width;
    const clamp = (value, most) => Math.min(Math.max(value, 0), most);
    return { x: clamp((event.clientX - box.left) * scale - panel.left, panel.width),
      y: clamp((event.clientY - box.top) * scale - panel.above, panel.height) };
  };
  let start = null;
  for (const panel of panels) {
    panel.svg.addEventListener("pointerdown", (event) => { start = { panel, ...place(panel, event) }; });
    panel.svg.addEventListener("pointermove", (event) => {
      const { x, y } = place(panel, event);
      const t = shown.from + x / panel.width * (shown.to - shown.from);
      for (const p of panels) {
        p.cursor.setAttribute("d", `M${p.left + x} ${p.above}v${p.height}`);
        p.svg.dataset.time = time(t, shown.to - shown.from);
      }
      if (start && start.panel === panel) {
        for (const [key, value] of Object.entries({ x: panel.left + Math.min(x, start.x), width: Math.abs(x - start.x),
          y: panel.above + Math.min(y, start.y), height: Math.abs(y - start.y) })) panel.drag.setAttribute(key, value);
      }
    });
    panel.svg.addEventListener("pointerup", (event) => {
      if (!start || start.panel !== panel) return;
      const { x, y } = place(panel, event), span = shown.to - shown.from;
      const [a, b] = [Math.min(x, start.x), Math.max(x, start.x)], [c, d] = [Math.min(y, start.y), Math.max(y, start.y)];
      start = null;
      panel.drag.setAttribute("width", 0);
      if (b - a < 4) return;
      shown = { from: shown.from + a / panel.width * span, to: shown.from + b / panel.width * span };
      if (d - c > 12) {
        const high = panel.bottom - panel.top, top = panel.top;
        panel.top = top + c / panel.height * high;
        panel.bottom = top + d / panel.height * high;
      }
      draw();
    });
    panel.svg.addEventListener("dblclick", () => {
      shown = { ...whole };
      for (const p of panels) { p.top = 0; p.bottom = p.height; }
      draw();
    });
  }
  window.addEventListener("pointerup", () => {
    if (start) { start.panel.drag.setAttribute("width", 0); start = null; }
  });
}
