/** Constants of a function, each in a local that its beginning fills. */
import type { Kernel, Real } from '../../ir/index.ts';
import type { Exact } from '../../numeric/exact.ts';
import * as exact from '../../numeric/exact.ts';
import type { FunctionAssembler } from './encoder.ts';
import type { VectorUnit } from './vector.ts';

export class Constants {
  private readonly asm: FunctionAssembler;
  private readonly precision: Kernel['precision'];
  private readonly locals = new Map<string, number>();

  constructor(asm: FunctionAssembler, precision: Kernel['precision']) {
    this.asm = asm;
    this.precision = precision;
  }

  number({ op, value }: Extract<Real, { value: Exact }>, unit: VectorUnit): void {
    this.everywhere(`${unit.type}:${op}${exact.key(value)}`, unit, () => {
      const number = this.precision === 'f32' ? exact.toSingle(value) : exact.toNumber(value);
      unit.constant(number, op === 'conj');
    });
  }

  /** Pushes what has nothing but the signs of all lanes. */
  signs(unit: VectorUnit): void {
    this.everywhere('signs', unit, () => unit.signs());
  }

  /** Pushes what the beginning of the function has put into a local. */
  private everywhere(key: string, unit: VectorUnit, push: () => void): void {
    let local = this.locals.get(key);
    if (local === undefined) {
      local = this.asm.lasting(unit.type);
      this.locals.set(key, local);
      this.asm.first(() => {
        push();
        this.asm.set(local!);
      });
    }
    this.asm.get(local);
  }
}
