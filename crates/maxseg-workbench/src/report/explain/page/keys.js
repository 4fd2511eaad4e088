// The keyboard, while a graph has the focus.

/** Looks at the next retransmission after the time that is looked at, or at the one before it: of the graph that has the focus, if it
 *  has some. */
const toResent = (view, data, isForward, focused) => {
  const isOf = (layer) => layer.frames && layer.kind === "marks";
  const panel = [focused, ...data.panels].find((one) => one?.layers.some(isOf));
  if (!panel) return;
  const { t, v } = panel.layers.find(isOf);
  const n = isForward ? firstFrom(t, (view.at ?? view.from - 1) + 1e-9) : firstFrom(t, (view.at ?? view.to + 1) - 1e-9) - 1;
  if (n < 0 || n >= t.length) return;
  keep(view, t[n]);
  view.hold(panel.id, v[n]);
};

/** The time of the next packet that is named. */
const nextPacket = (data, time, isForward) => {
  const times = packetLayers(data).map(({ t }) => (isForward ? t[firstFrom(t, time + 1e-9)] : t[firstFrom(t, time - 1e-9) - 1]));
  const found = times.filter((t) => t !== undefined);
  return found.length === 0 ? null : isForward ? Math.min(...found) : Math.max(...found);
};

/** Looks at a time, if there is one, and keeps it. */
const keep = (view, time) => {
  if (time === null) return;
  view.lookAt(time);
  view.isPinned = true;
};

const KEYS = {
  ArrowLeft: (view, { event }) => (event.shiftKey ? view.pan(-0.25) : step(view, -0.01)),
  ArrowRight: (view, { event }) => (event.shiftKey ? view.pan(0.25) : step(view, 0.01)),
  ArrowUp: (view, { panel }) => view.raise(panel.id, 0.1),
  ArrowDown: (view, { panel }) => view.raise(panel.id, -0.1),
  Home: (view) => keep(view, view.whole.from),
  End: (view) => keep(view, view.whole.to),
  "+": (view) => view.zoom(0.5),
  "=": (view) => view.zoom(0.5),
  "-": (view) => view.zoom(2),
  0: (view) => view.reset(),
  n: (view, { data, panel }) => toResent(view, data, true, panel),
  p: (view, { data, panel }) => toResent(view, data, false, panel),
  ".": (view, { data }) => keep(view, nextPacket(data, view.at ?? view.from, true)),
  ",": (view, { data }) => keep(view, nextPacket(data, view.at ?? view.to, false)),
  Enter: (view) => { view.isPinned = view.at !== null && !view.isPinned; },
  Escape: (view) => { if (!letGo(view)) view.reset(); },
};

/** Looks at no time any more. Gives whether one was looked at. */
const letGo = (view) => {
  const wasLooked = view.at !== null;
  view.at = null;
  view.isPinned = false;
  return wasLooked;
};

const step = (view, share) => keep(view, (view.at ?? (view.from + view.to) / 2) + share * view.span);

const onKey = (event, panel, page) => {
  const act = KEYS[event.key];
  if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  page.change((view) => act(view, { event, panel, data: page.data }));
};
