/** Constants of a function. Each is kept in a local that is set at the beginning of the function. */
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

  /** Pushes a vector that has only the sign bits set. */
  signs(unit: VectorUnit): void {
    this.everywhere('signs', unit, () => unit.signs());
  }

  /** Pushes the local that holds a value set at the beginning of the function. */
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
