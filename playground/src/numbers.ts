/** Numbers for people: round ticks, few digits, units. */

/** Round values inside [from, to], about `count` of them: steps of 1, 2 or 5 times a power of ten. */
export function ticks(from: number, to: number, count: number): number[] {
  const rough = (to - from) / Math.max(1, count);
  if (!(rough > 0) || !Number.isFinite(rough)) return [from];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  // Products of whole numbers: sums would gather rounding errors, and 0 would be shown as 1e−17.
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => Number(((first + n) * step).toPrecision(12)));
}

/** Three significant digits, with a real minus sign; powers of ten where there would be too many zeros. */
export function short(value: number, digits = 3): string {
  if (value === 0) return '0';
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  const text =
    size >= 1e6 || size < 1e-3
      ? value.toExponential(digits - 1).replace(/e\+?(-?)(\d+)/, (_, sign, power) => ` × 10${raised(sign + power)}`)
      : String(Number(value.toPrecision(Math.max(digits, Math.ceil(Math.log10(size + 1))))));
  return text.replace('-', '−');
}

function raised(power: string): string {
  return [...power].map((digit) => (digit === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)])).join('');
}

/** A duration given in milliseconds. */
export function duration(milliseconds: number): string {
  if (milliseconds >= 1000) return `${short(milliseconds / 1000)} s`;
  if (milliseconds >= 1) return `${short(milliseconds)} ms`;
  if (milliseconds >= 1e-3) return `${short(milliseconds * 1e3)} µs`;
  return `${short(milliseconds * 1e6)} ns`;
}

/** A frequency given in hertz. */
export function frequency(hertz: number): string {
  return Math.abs(hertz) >= 1000 ? `${short(hertz / 1000, 5)} kHz` : `${short(hertz, 4)} Hz`;
}
