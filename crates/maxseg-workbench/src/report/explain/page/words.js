// Numbers with their units, as the rest of the page writes them.

const UNITS = {
  bytes: [["bytes", 1], ["kB", 1e3], ["MB", 1e6], ["GB", 1e9]],
  rate: [["bit/s", 1], ["kbit/s", 1e3], ["Mbit/s", 1e6], ["Gbit/s", 1e9]],
  time: [["ns", 1e-9], ["us", 1e-6], ["ms", 1e-3], ["s", 1]],
};

/** The largest unit that leaves at least one whole of it. */
const unitOf = (value, kind) => UNITS[kind].findLast(([, of]) => Math.abs(value) >= 0.9995 * of) ?? UNITS[kind][0];

/** A value with three digits and its unit: `12.3 MB`. */
const written = (value, kind) => {
  if (value === 0) return kind === "bytes" ? "0 bytes" : kind === "rate" ? "0 bit/s" : "0 s";
  const [unit, of] = unitOf(value, kind);
  const number = value / of;
  const decimals = unit === "bytes" ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(number) || 1)));
  return `${number.toFixed(Math.min(decimals, 2))} ${unit}`;
};

/** A time within a span of time, with as many digits as tell neighbours apart. */
const timeWithin = (seconds, span) => {
  const decimals = Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(span || 1))));
  return `${seconds.toFixed(decimals)} s`;
};

/** The time of day, of so many seconds after `beginUs` microseconds since 1970. */
const timeOfDay = (beginUs, seconds) => {
  const us = beginUs + Math.round(seconds * 1e6);
  const date = new Date(Math.floor(us / 1000)).toISOString().replace("T", " ").replace("Z", "");
  return `${date}${String(us % 1000).padStart(3, "0")} UTC`;
};

/** Round values between `from` and `to`, about `wanted` of them, and two at least. */
const ticks = (from, to, wanted) => {
  for (let most = wanted; ; most += 1) {
    const list = multiples(from, to, (to - from) / most);
    if (list.length > 1 || most > 2 * wanted + 2) return list;
  }
};

/** The multiples of a round step, no smaller than `rough`. */
const multiples = (from, to, rough) => {
  if (!(rough > 0)) return [from];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough * (1 - 1e-9));
  const list = [];
  for (let n = Math.ceil(from / step - 1e-9); n * step <= to + step * 1e-9; n++) list.push(n * step);
  return list;
};

/** The words of an axis: one unit for all its ticks, and as many decimals as they have. */
const axisWords = (values, kind) => {
  const largest = Math.max(...values.map(Math.abs));
  const [unit, of] = unitOf(largest, kind);
  // What is left over is small beside the distance of two ticks, or is an error of rounding.
  const apart = values.length > 1 ? Math.abs(values[1] - values[0]) / of : 1;
  const isWhole = (value, decimals) => Math.abs(value - Number(value.toFixed(decimals))) <= 1e-3 * apart + 1e-12 * largest / of;
  let decimals = 0;
  while (decimals < 9 && !values.every((value) => isWhole(value / of, decimals))) decimals += 1;
  return values.map((value) => (value === 0 ? "0" : `${(value / of).toFixed(decimals)} ${unit}`));
};

/** A whole number in groups of three. */
const grouped = (number) => String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
