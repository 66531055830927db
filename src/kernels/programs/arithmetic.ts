/** The arithmetic of programs as expressions of kernels. */
import type { ElementType, Expressions, Real } from '../../ir/index.ts';
import { cosTurn, neg, sinTurn } from '../../numeric/exact.ts';
import type { ScalarOp, Value } from '../../patterns/values.ts';
import { exponential, logarithm } from '../logarithms.ts';
import type { NumberExpression, Pulled } from './pulled.ts';

export function numberOf(re: Real, im?: Real): NumberExpression {
  return im === undefined ? { kind: 'number', re } : { kind: 'number', re, im };
}

/** A constant or a root of unity, exact until it is stored. */
export function constantOf(x: Expressions, { op, details }: Value): NumberExpression {
  if (op === 'constant') return numberOf(x.constant(details.value!));
  const [k, n] = [details.k!, details.n!];
  return numberOf(x.constant(cosTurn(k, n)), x.constant(neg(sinTurn(k, n))));
}

/** @param isComplex whether the result is a complex number */
export function computed(
  x: Expressions,
  op: ScalarOp,
  operands: readonly Pulled[],
  isComplex: boolean,
  precision: ElementType,
): Pulled {
  const zero = x.constant(0);
  const [a, b] = operands as [NumberExpression, NumberExpression];
  const complex = ({ re, im = zero }: NumberExpression) => ({ re, im });
  const parts = ({ re, im }: { readonly re: Real; readonly im: Real }) => numberOf(re, im);
  switch (op) {
    case 'add':
      return isComplex ? parts(x.cadd(complex(a), complex(b))) : numberOf(x.add(a.re, b.re));
    case 'sub':
      return isComplex ? parts(x.csub(complex(a), complex(b))) : numberOf(x.sub(a.re, b.re));
    case 'mul':
      // A real factor takes two products.
      if (isComplex && !a.im) return parts(x.cscale(complex(b), a.re));
      if (isComplex && !b.im) return parts(x.cscale(complex(a), b.re));
      return isComplex ? parts(x.cmul(complex(a), complex(b))) : numberOf(x.mul(a.re, b.re));
    case 'div':
      return numberOf(x.div(a.re, b.re), a.im && x.div(a.im, b.re));
    case 'neg':
      return numberOf(x.neg(a.re), a.im && x.neg(a.im));
    case 'conj':
      return numberOf(a.re, a.im && x.neg(a.im));
    case 're':
      return numberOf(a.re);
    case 'im':
      return numberOf(a.im ?? zero);
    case 'norm2':
      return numberOf(a.im ? x.add(x.mul(a.re, a.re), x.mul(a.im, a.im)) : x.mul(a.re, a.re));
    case 'complexOf':
      return numberOf(a.re, b.re);
    case 'less':
      return { kind: 'condition', left: a.re, right: b.re };
    case 'select': {
      const [condition, yes, no] = operands as [
        Extract<Pulled, { kind: 'condition' }>,
        NumberExpression,
        NumberExpression,
      ];
      const choose = (one: Real, other: Real) => x.select('less', condition.left, condition.right, one, other);
      return numberOf(choose(yes.re, no.re), isComplex ? choose(yes.im ?? zero, no.im ?? zero) : undefined);
    }
    case 'min':
    case 'max':
      return numberOf(x[op](a.re, b.re));
    case 'log':
      return numberOf(logarithm(x, a.re, precision));
    case 'exp':
      return numberOf(exponential(x, a.re, precision));
    default:
      return numberOf(x[op](a.re));
  }
}
