"use strict";
// The numbers of the graphs, as the page carries them, and how they are found by time.

/** Columns hold the difference from each value to the next. */
const summed = (differences, scale) => {
  let sum = 0;
  return Float64Array.from(differences, (difference) => (sum += difference) * scale);
};

/** The graphs: times in seconds, values in the unit of their panel. */
const decoded = (element) => {
  const data = JSON.parse(element.textContent);
  for (const layer of data.panels.flatMap((panel) => panel.layers).concat(data.others)) {
    layer.t = summed(layer.t, data.tick_s);
    layer.v = summed(layer.v, layer.scale);
    layer.frames = layer.frames && summed(layer.frames, 1);
    layer.windows = layer.windows && summed(layer.windows, 1);
  }
  return data;
};

/** The index of the first of these rising values that is not below `value`. */
const firstFrom = (values, value) => {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
};

/** The index of the value of `values` that is nearest; -1 where there is none. */
const nearest = (values, value) => {
  const after = firstFrom(values, value);
  if (after === 0) return values.length - 1 < 0 ? -1 : 0;
  if (after === values.length) return after - 1;
  return values[after] - value < value - values[after - 1] ? after : after - 1;
};

/** The layers whose points are packets, those that no graph draws among them. */
const packetLayers = (data) => data.panels.flatMap((panel) => panel.layers).concat(data.others).filter((layer) => layer.frames);

/** How far a point reaches up: a segment has as many bytes. */
const heightOf = (layer, n) => (layer.bytes && (layer.kind === "dots" || layer.kind === "marks") ? layer.bytes[n] : 0);

const isRate = (layer) => layer.kind === "rates" || layer.kind === "rate-marks";

/** Rates of intervals as means over `least` seconds. What is longer, such as a pause, stays as it is; what is left over belongs to
 *  the mean before it. The last point is the end: a rate there is that of the last mean. */
const means = (layer, least) => {
  const list = [];
  const joinLeftOver = () => {
    const before = list[list.length - 2];
    if (!before || before.isWhole) return;
    const over = list.pop();
    before.sum += over.sum;
    before.long += over.long;
  };
  let isOpen = false;
  const last = layer.t.length - 1;
  for (let n = 0; n < last; n++) {
    const long = layer.t[n + 1] - layer.t[n], isWhole = long >= least;
    if (isOpen && isWhole) joinLeftOver();
    if (!isOpen || isWhole) list.push({ from: layer.t[n], sum: 0, long: 0, isWhole });
    const mean = list[list.length - 1];
    mean.sum += layer.v[n] * long;
    mean.long += long;
    isOpen = mean.long < least;
  }
  if (isOpen) joinLeftOver();
  const t = list.map((mean) => mean.from), v = list.map((mean) => mean.sum / (mean.long || 1));
  if (last >= 0) {
    t.push(layer.t[last]);
    v.push(layer.v[last] > 0 && v.length > 0 ? v[v.length - 1] : layer.v[last]);
  }
  return { ...layer, t, v };
};

const isSack = (layer) => layer.packet.includes("SACK");

/** What a packet is, as a layer knows it: `segment from byte 4 380, 1 460 bytes`. */
const packetWords = (layer, n) => {
  const place = layer.packet.endsWith("byte") ? ` ${grouped(layer.v[n])}` : "";
  const bytes = layer.bytes[n] ? `, ${grouped(layer.bytes[n])} bytes` : "";
  const window = layer.windows && layer.windows[n] >= 0 ? `, window ${grouped(layer.windows[n])} bytes` : "";
  return `${layer.packet}${place}${bytes}${window}`;
};

/** Packets that have their numbers, nearest to a time, with what they are; in the order of the capture. */
const packetsNear = (data, time, most) => {
  const found = new Map();
  for (const layer of packetLayers(data)) {
    const middle = firstFrom(layer.t, time);
    for (let n = Math.max(0, middle - most); n < Math.min(layer.t.length, middle + most); n++) {
      const packet = found.get(layer.frames[n]) ?? { frame: layer.frames[n], t: layer.t[n], words: new Map() };
      // A segment may be of several layers, of which the marks say most; it may acknowledge, block by block, and end the connection as well.
      const role = data.others.includes(layer) ? layer.packet : layer.windows ? "acknowledges" : isSack(layer) ? `${layer.packet} ${layer.v[n]}` : "data";
      if (!packet.words.has(role) || layer.kind === "marks") packet.words.set(role, packetWords(layer, n));
      found.set(packet.frame, packet);
    }
  }
  const near = [...found.values()].sort((a, b) => Math.abs(a.t - time) - Math.abs(b.t - time)).slice(0, most);
  return near.sort((a, b) => a.frame - b.frame);
};
