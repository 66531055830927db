/** Samples: what counts as an array of them. */

export function isFloats(value: unknown): boolean {
  return ArrayBuffer.isView(value) && /^\[object Float(32|64)Array\]$/.test(Object.prototype.toString.call(value));
}
