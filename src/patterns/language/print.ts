/**
 * Programs as text, in the notation of the LIFT paper: `λ((v, w) => reduce(+, 0) <<: map(*) <<: zip(v, w))`.
 *
 * `f <<: x` applies a pattern; functions that only pass their parameter through patterns are compositions, `join o split(2)`; a scalar
 * function of just its parameters is its sign or name. Bound variables are a, b, c … in the order in which they are printed.
 */
import type { Program } from './program.ts';
import { freeOf, type Lambda, maps, type Op, reachableValues, scalarOps, type Value } from './values.ts';

/** The most values in a text; in a longer text repeated values are printed as `…`. */
const MOST_VALUES = 4000;

const SIGNS: Partial<Record<Op, string>> = { add: '+', sub: '-', mul: '*', div: '/', less: '<' };
/** The binding strength of operators; a negation binds as a product does. */
const STRENGTHS: Partial<Record<Op, number>> = { less: 1, add: 2, sub: 2, mul: 3, div: 3, neg: 3 };
/** The binding strengths of an applied pattern, which binds least, and of anything in brackets. */
const [APPLIED, CLOSED] = [0, 4];

const isScalar = (op: Op) => (scalarOps as readonly Op[]).includes(op);

/** @returns the program on one line */
export function print({ parameters, body }: Program): string {
  const printer = new Printer(
    parameters.map(({ details }) => details.name!),
    body,
  );
  return `λ(${listed(parameters.map(({ details }) => details.name!))} => ${printer.value(body)})`;
}

function listed(names: readonly string[]): string {
  return names.length === 1 ? names[0]! : `(${names.join(', ')})`;
}

class Printer {
  private readonly names = new Map<Value, string>();
  private readonly taken: ReadonlySet<string>;
  private next = 0;
  /** Values printed already, kept where the text would be too long otherwise. */
  private readonly printed: Set<Value> | undefined;

  constructor(inputs: readonly string[], body: Value) {
    this.taken = new Set(inputs);
    if (occurrences(body) > MOST_VALUES) this.printed = new Set();
  }

  value(value: Value, least = APPLIED): string {
    if (this.printed && (value.of.length > 0 || value.f)) {
      if (this.printed.has(value)) return '…';
      this.printed.add(value);
    }
    const [text, strength] = this.bound(value);
    return strength < least ? `(${text})` : text;
  }

  private bound(value: Value): [text: string, strength: number] {
    const { op, of, details } = value;
    switch (op) {
      case 'input':
        return [details.name!, CLOSED];
      case 'symbol':
        return [this.names.get(value) ?? '?', CLOSED];
      case 'constant':
        return [`${details.value}`, details.value! < 0 ? STRENGTHS.neg! : CLOSED];
      case 'omega':
        return [`omega(${details.k}, ${details.n})`, CLOSED];
      case 'at':
        return [`${this.value(of[0]!, CLOSED)}[${details.index}]`, CLOSED];
      case 'complexOf':
        return [`{${of.map((part) => this.value(part)).join(', ')}}`, CLOSED];
      case 'list':
        return [`[${of.map((part) => this.value(part)).join(', ')}]`, CLOSED];
      case 'neg':
        return [`-${this.value(of[0]!, CLOSED)}`, STRENGTHS.neg!];
      case 'zip':
      case 'tuple':
        return [this.called(value), CLOSED];
      case 'array':
        return [this.array(value), CLOSED];
    }
    const sign = SIGNS[op];
    if (sign) {
      const own = STRENGTHS[op]!;
      return [`${this.value(of[0]!, own)} ${sign} ${this.value(of[1]!, own + 1)}`, own];
    }
    if (isScalar(op)) return [this.called(value), CLOSED];
    const head = this.head(value);
    return [`${head} <<: ${this.value(of.at(-1)!)}`, APPLIED];
  }

  private called({ op, of }: Value): string {
    return `${op}(${of.map((operand) => this.value(operand)).join(', ')})`;
  }

  private array({ details: { lengths = [], make } }: Value): string {
    const name = lengths.length === 1 ? 'array' : `array${lengths.length}`;
    return `${name}(${[...lengths, make!.name || 'λ'].join(', ')})`;
  }

  /** A pattern without its last argument. */
  private head({ op, of, f, details }: Value): string {
    const { lengths = [], boundary, times } = details;
    const arguments_ = [
      ...(times === undefined ? [] : [times]),
      ...(f ? [this.lambda(f)] : []),
      ...of.slice(0, -1).map((first) => this.value(first)),
      ...lengths,
      ...(boundary === undefined ? [] : [boundary]),
    ];
    return arguments_.length === 0 ? op : `${op}(${arguments_.join(', ')})`;
  }

  private lambda({ parameters, body }: Lambda): string {
    if (parameters.length === 1 && parameters[0] === body) return 'id';
    const [only] = parameters;
    const justThem = body.of.length === parameters.length && body.of.every((operand, n) => operand === parameters[n]);
    if (isScalar(body.op) && justThem) return SIGNS[body.op] ?? (body.op === 'neg' ? '-' : body.op);
    const chain = parameters.length === 1 ? chainOf(body, only!) : undefined;
    if (chain) return chain.map((pattern) => this.head(pattern)).join(' o ');
    for (const parameter of parameters) this.names.set(parameter, this.fresh());
    return `λ(${listed(parameters.map((parameter) => this.names.get(parameter)!))} => ${this.value(body)})`;
  }

  private fresh(): string {
    for (;;) {
      const [letter, round] = [this.next % 26, Math.floor(this.next / 26)];
      this.next++;
      const name = `${String.fromCharCode(97 + letter)}${round > 0 ? round : ''}`;
      if (!this.taken.has(name)) return name;
    }
  }
}

/** Whether a value is a pattern that is applied to its last operand. */
function isApplied({ op }: Value): boolean {
  if ((maps as readonly Op[]).includes(op)) return true;
  return !isScalar(op) && !['input', 'symbol', 'constant', 'omega', 'at', 'list', 'tuple', 'zip', 'array'].includes(op);
}

/** The patterns that a parameter passes through on its way to a value, outermost first; undefined for any other function. */
function chainOf(body: Value, parameter: Value): Value[] | undefined {
  const chain: Value[] = [];
  let value = body;
  while (value !== parameter) {
    if (!isApplied(value)) return undefined;
    const others = value.of.slice(0, -1).concat(value.f ? value.f.body : []);
    if (others.some((other) => usesSymbol(other, parameter))) return undefined;
    chain.push(value);
    value = value.of.at(-1)!;
  }
  return chain;
}

function usesSymbol(value: Value, symbol: Value): boolean {
  return freeOf(value).has(symbol);
}

/** The number of times that each value occurs in the printed text, bodies of functions included. */
function occurrences(root: Value): number {
  const counts = new Map<Value, number>();
  for (const value of reachableValues(root)) {
    const inner = [...value.of, ...(value.f ? [value.f.body] : [])];
    counts.set(
      value,
      inner.reduce((sum, operand) => sum + counts.get(operand)!, 1),
    );
  }
  return counts.get(root)!;
}
