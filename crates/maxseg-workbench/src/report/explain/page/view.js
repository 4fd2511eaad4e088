// What is shown: a stretch of time, of a graph perhaps a range of values, and the time that is looked at. It is in the
// fragment of the URL: a link shows the same.

/** Less than this, in seconds, is not shown: captures have hardly finer times. */
const LEAST_SPAN = 1e-6;

class View {
  constructor(from, to) {
    this.whole = { from, to };
    this.reset();
  }

  /** All of the time, at no time in particular. */
  reset() {
    ({ from: this.from, to: this.to } = this.whole);
    this.at = null;
    this.isPinned = false;
    this.heights = new Map();
    this.showsBounds = false;
  }

  get span() { return this.to - this.from; }

  get isWhole() { return this.from === this.whole.from && this.to === this.whole.to && this.heights.size === 0; }

  /** What is shown, without the time that is looked at. */
  get range() { return JSON.stringify([this.from, this.to, this.showsBounds, ...this.heights]); }

  /** Shows so much of the time, or as much of it as there is. */
  show(from, to) {
    const all = this.whole.to - this.whole.from;
    const span = Math.min(Math.max(to - from, LEAST_SPAN), all);
    this.from = Math.min(Math.max(from, this.whole.from), this.whole.to - span);
    this.to = this.from + span;
  }

  /** Shows `times` as much time around the one that is looked at, or around the middle. */
  zoom(times) {
    const around = this.at !== null && this.at >= this.from && this.at <= this.to ? this.at : (this.from + this.to) / 2;
    this.show(around - (around - this.from) * times, around + (this.to - around) * times);
    if (times <= 1) return;
    // Who steps back sees more of the values as well.
    for (const [id, [low, high]] of this.heights) {
      const [middle, half] = [(low + high) / 2, (high - low) / 2 * times];
      this.heights.set(id, [middle - half, middle + half]);
    }
    if (this.from === this.whole.from && this.to === this.whole.to) this.heights.clear();
  }

  /** Moves by a share of what is shown. The values elsewhere are others: a chosen range would not hold them. */
  pan(share) {
    this.show(this.from + share * this.span, this.to + share * this.span);
    this.heights.clear();
  }

  /** Looks at a time, and moves there where it is not shown: it stands in the middle then. */
  lookAt(time) {
    this.at = Math.min(Math.max(time, this.whole.from), this.whole.to);
    if (this.at >= this.from && this.at <= this.to) return;
    this.show(this.at - this.span / 2, this.at + this.span / 2);
    this.heights.clear();
  }

  /** Keeps a time, also one that is not shown. */
  pin(time) {
    this.at = Math.min(Math.max(time, this.whole.from), this.whole.to);
    this.isPinned = true;
  }

  /** Moves the chosen range of a graph, where there is one, so that it holds a value. */
  hold(id, value) {
    const [low, high] = this.heights.get(id) ?? [value, value];
    if (value >= low && value <= high) return;
    this.heights.set(id, [value - (high - low) / 2, value + (high - low) / 2]);
  }

  /** Moves the values of a graph whose range is fixed. */
  raise(id, share) {
    const range = this.heights.get(id);
    if (!range) return;
    const by = share * (range[1] - range[0]);
    this.heights.set(id, [range[0] + by, range[1] + by]);
  }

  get fragment() {
    // Times are kept in ticks of 100 ns, and large values whole: a link shows the same also late in a long connection.
    const time = (seconds) => String(Number(seconds.toFixed(7)));
    const value = (number) => String(Number(Math.abs(number) >= 1e6 ? number.toFixed(0) : number.toPrecision(9)));
    const parts = [];
    if (this.from !== this.whole.from || this.to !== this.whole.to) parts.push(`t=${time(this.from)}..${time(this.to)}`);
    if (this.at !== null && this.isPinned) parts.push(`at=${time(this.at)}`);
    for (const [id, [low, high]] of this.heights) parts.push(`${id}=${value(low)}..${value(high)}`);
    if (this.showsBounds) parts.push("bounds=1");
    return parts.join("&");
  }

  /** Takes over what a fragment says, as far as it can be understood. */
  read(fragment, ids) {
    this.reset();
    for (const [key, value] of new URLSearchParams(fragment.replace(/^#/, ""))) {
      const numbers = value.split("..").map(Number);
      if (value === "" || !numbers.every(Number.isFinite)) continue;
      const isRange = numbers.length === 2 && numbers[0] < numbers[1];
      if (key === "t" && isRange) this.show(...numbers);
      if (key === "at" && numbers.length === 1) this.pin(numbers[0]);
      if (key === "bounds") this.showsBounds = numbers[0] === 1;
      if (ids.includes(key) && isRange) this.heights.set(key, numbers);
    }
  }
}
