// What is shown: a stretch of time, of a graph perhaps a range of values, and the time that is looked at. It is in the
// fragment of the URL: a link shows the same.

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
  }

  get span() { return this.to - this.from; }

  get isWhole() { return this.from === this.whole.from && this.to === this.whole.to && this.heights.size === 0; }

  /** What is shown, without the time that is looked at. */
  get range() { return JSON.stringify([this.from, this.to, ...this.heights]); }

  /** Shows so much of the time, or as much of it as there is. */
  show(from, to) {
    const all = this.whole.to - this.whole.from;
    const span = Math.min(Math.max(to - from, all * 1e-7), all);
    this.from = Math.min(Math.max(from, this.whole.from), this.whole.to - span);
    this.to = this.from + span;
  }

  /** Shows `times` as much time around the one that is looked at, or around the middle. */
  zoom(times) {
    const around = this.at !== null && this.at >= this.from && this.at <= this.to ? this.at : (this.from + this.to) / 2;
    this.show(around - (around - this.from) * times, around + (this.to - around) * times);
  }

  /** Moves by a share of what is shown. */
  pan(share) { this.show(this.from + share * this.span, this.to + share * this.span); }

  /** Looks at a time, and moves there where it is not shown. */
  lookAt(time) {
    this.at = Math.min(Math.max(time, this.whole.from), this.whole.to);
    if (this.at < this.from) this.show(this.at, this.at + this.span);
    if (this.at > this.to) this.show(this.at - this.span, this.at);
  }

  /** Moves the values of a graph whose range is fixed. */
  raise(id, share) {
    const range = this.heights.get(id);
    if (!range) return;
    const by = share * (range[1] - range[0]);
    this.heights.set(id, [range[0] + by, range[1] + by]);
  }

  get fragment() {
    const short = (number) => String(Number(number.toPrecision(9)));
    const parts = [];
    if (this.from !== this.whole.from || this.to !== this.whole.to) parts.push(`t=${short(this.from)}..${short(this.to)}`);
    if (this.at !== null && this.isPinned) parts.push(`at=${short(this.at)}`);
    for (const [id, [low, high]] of this.heights) parts.push(`${id}=${short(low)}..${short(high)}`);
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
      if (key === "at" && numbers.length === 1) { this.lookAt(numbers[0]); this.isPinned = true; }
      if (ids.includes(key) && isRange) this.heights.set(key, numbers);
    }
  }
}
