/** The cost of computing a value, by which lowering decides whether to store the value or to compute it again. */
import { lengthValue, type Sizes } from '../../../patterns/language/sizing.ts';
import type { Type } from '../../../patterns/language/types.ts';
import type { Value } from '../../../patterns/language/values.ts';

/** Costs of functions, in operations. */
const COSTS: Readonly<Record<string, number>> = { log: 100, exp: 120, sqrt: 4, div: 4, mul: 1, add: 1 };

/** The rough number of operations for one element of a value. */
export class Work {
  private readonly known = new Map<Value, number>();
  private readonly sizes: Sizes;

  constructor(sizes: Sizes) {
    this.sizes = sizes;
  }

  of(value: Value): number {
    let work = this.known.get(value);
    if (work === undefined) this.known.set(value, (work = this.reckoned(value)));
    return work;
  }

  private reckoned({ op, of, f, details, type }: Value): number {
    const operands = () => of.reduce((sum, operand) => sum + this.of(operand), 0);
    const body = () => this.of(f!.body);
    switch (op) {
      case 'input':
      case 'symbol':
      case 'constant':
      case 'omega':
      case 'array':
        return 0;
      // Results of transforms and of work-groups, and stored arrays, are read from memory.
      case 'fft':
      case 'ifft':
      case 'rfft':
      case 'irfft':
      case 'toGlobal':
      case 'toLocal':
      case 'mapWorkgroup':
        return 0;
      case 'list':
        return Math.max(...of.map((operand) => this.of(operand)));
      case 'reduce':
      case 'reduceSeq':
        return this.of(of[0]!) + this.length(of[1]!.type) * (1 + this.of(of[1]!) + body());
      case 'iterate':
        return this.of(of[0]!) + details.times! * body();
      case 'dft':
      case 'idft': {
        const n = this.length(of[0]!.type);
        return n * (this.of(of[0]!) + 5 * Math.log2(n));
      }
      default:
        if (f) return operands() + body();
        return operands() + (type.kind === 'array' || type.kind === 'tuple' ? 0 : (COSTS[op] ?? 1));
    }
  }

  private length(type: Type): number {
    return type.kind === 'array' ? lengthValue(type.length, this.sizes) : 1;
  }
}
