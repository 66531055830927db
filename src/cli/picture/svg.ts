/** Building blocks of pictures as SVG: boxes, texts and their colours. */

/** A rectangle in pixels, from the top left corner of the picture. */
export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The font that pictures are rendered with. */
export const FONT = 'Inter';
/** The fonts of a viewer that lacks it. */
const FAMILY = `${FONT}, Helvetica, Arial, sans-serif`;
export const INK = '#1b1b23';
export const MUTED = '#5f6472';

export interface TextStyle {
  readonly size: number;
  readonly weight?: number;
  readonly fill?: string;
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly transform?: string;
}

/** A line of text. @param y the baseline */
export function text(x: number, y: number, content: string, style: TextStyle): string {
  const { size, weight = 400, fill = INK, anchor = 'start', transform } = style;
  const rotated = transform === undefined ? '' : ` transform="${transform}"`;
  const attributes = `font-family="${FAMILY}" font-size="${size}" font-weight="${weight}" fill="${fill}" text-anchor="${anchor}"`;
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}${rotated}>${escapeXml(content)}</text>`;
}

/** Characters that XML cannot represent, not even escaped; file names may contain them. */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

export function escapeXml(content: string): string {
  return content.replace(FORBIDDEN, '\ufffd').replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The style of a box. */
export interface BoxStyle {
  /** The meaning of the box, by which tests find it. */
  readonly kind: string;
  readonly fill: string;
  readonly stroke?: string;
  readonly radius?: number;
}

export function box({ x, y, width, height }: Rectangle, { kind, fill, stroke, radius = 0 }: BoxStyle): string {
  const [left, top, across, down] = [x, y, width, height].map((value) => value.toFixed(1));
  const border = stroke === undefined ? '' : ` stroke="${stroke}" stroke-width="1.5"`;
  return `<rect class="${kind}" x="${left}" y="${top}" width="${across}" height="${down}" rx="${radius}" fill="${fill}"${border}/>`;
}

/** The approximate width of a text in pixels. It assumes Inter, which is no narrower than the fonts that viewers substitute. */
export function widthOf(content: string, { size, weight = 400 }: Pick<TextStyle, 'size' | 'weight'>): number {
  const ems = [...content].reduce(
    (sum, letter) => sum + (WIDTHS.find(([which]) => which.test(letter))?.[1] ?? 0.77),
    0,
  );
  return ems * size * (weight > 500 ? 1.03 : 1);
}

/** Widths of letters of Inter in ems, by groups; all other letters are at most as wide as an O. */
const WIDTHS: readonly (readonly [RegExp, number])[] = [
  [/[ .,:;'|!ijlI·]/, 0.29],
  [/[frt1()[\]/]/, 0.41],
  [/-/, 0.47],
  [/[aceksvxyzJL]/, 0.575],
  [/[bdghnopqu02-9BEFPRSTZ]/, 0.64],
  [/[mwM]/, 0.91],
  [/[W@%]/, 1.03],
];

/** Arranges items of given widths in lines. @returns the line and the start of each item */
export function flow(widths: readonly number[], room: number, gap: number): { line: number; start: number }[] {
  let line = 0;
  let next = 0;
  return widths.map((width) => {
    if (next > 0 && next + width > room) {
      line++;
      next = 0;
    }
    const start = next;
    next += width + gap;
    return { line, start };
  });
}

/** Breaks a text between words, or at another separator, into lines that fit. */
export function wrap(
  content: string,
  room: number,
  style: Pick<TextStyle, 'size' | 'weight'>,
  between = ' ',
): string[] {
  const words = content.split(between);
  const places = flow(
    words.map((word) => widthOf(word, style)),
    room,
    widthOf(between, style),
  );
  const lines: string[] = [];
  words.forEach((word, n) => {
    const { line, start } = places[n]!;
    lines[line] = start === 0 ? word : `${lines[line]}${between}${word}`;
  });
  return lines;
}
