/** The arithmetic of programs as expressions of kernels. */
import type { ElementType, Expressions, Real } from '../../../ir/index.ts';
import { cosTurn, neg, sinTurn } from '../../../numeric/exact.ts';
import type { ScalarOp, Value } from '../../../patterns/language/values.ts';
import { exponentialOf, logarithm } from '../../views/logarithms.ts';
import type { NumberExpression, Pulled } from './pulled.ts';

export function numberExpression(re: Real, im?: Real): NumberExpression {
  return im === undefined ? { kind: 'number', re } : { kind: 'number', re, im };
}

/** A constant or a root of unity, exact until it is stored. */
export function knownScalar(x: Expressions, { op, details }: Value): NumberExpression {
  if (op === 'constant') return numberExpression(x.constant(details.value!));
  const [k, n] = [details.k!, details.n!];
  return numberExpression(x.constant(cosTurn(k, n)), x.constant(neg(sinTurn(k, n))));
}

/** @param isComplex whether the result is a complex number */
export function scalarResult(
  x: Expressions,
  op: ScalarOp,
  operands: readonly Pulled[],
  isComplex: boolean,
  precision: ElementType,
): Pulled {
  const zero = x.constant(0);
  const [a, b] = operands as [NumberExpression, NumberExpression];
  const complex = ({ re, im = zero }: NumberExpression) => ({ re, im });
  const parts = ({ re, im }: { readonly re: Real; readonly im: Real }) => numberExpression(re, im);
  switch (op) {
    case 'add':
      return isComplex ? parts(x.cadd(complex(a), complex(b))) : numberExpression(x.add(a.re, b.re));
    case 'sub':
      return isComplex ? parts(x.csub(complex(a), complex(b))) : numberExpression(x.sub(a.re, b.re));
    case 'mul':
      // A real factor takes two products.
      if (isComplex && !a.im) return parts(x.cscale(complex(b), a.re));
      if (isComplex && !b.im) return parts(x.cscale(complex(a), b.re));
      return isComplex ? parts(x.cmul(complex(a), complex(b))) : numberExpression(x.mul(a.re, b.re));
    case 'div':
      return numberExpression(x.div(a.re, b.re), a.im && x.div(a.im, b.re));
    case 'neg':
      return numberExpression(x.neg(a.re), a.im && x.neg(a.im));
    case 'conj':
      return numberExpression(a.re, a.im && x.neg(a.im));
    case 're':
      return numberExpression(a.re);
    case 'im':
      return numberExpression(a.im ?? zero);
    case 'norm2':
      return numberExpression(a.im ? x.add(x.mul(a.re, a.re), x.mul(a.im, a.im)) : x.mul(a.re, a.re));
    case 'complexOf':
      return numberExpression(a.re, b.re);
    case 'less':
      return { kind: 'condition', left: a.re, right: b.re };
    case 'select': {
      const [condition, yes, no] = operands as [
        Extract<Pulled, { kind: 'condition' }>,
        NumberExpression,
        NumberExpression,
      ];
      const choose = (one: Real, other: Real) => x.select('less', condition.left, condition.right, one, other);
      return numberExpression(choose(yes.re, no.re), isComplex ? choose(yes.im ?? zero, no.im ?? zero) : undefined);
    }
    case 'min':
    case 'max':
      return numberExpression(x[op](a.re, b.re));
    case 'log':
      return numberExpression(logarithm(x, a.re, precision));
    case 'exp':
      return numberExpression(exponentialOf(x, a.re, precision));
    default:
      return numberExpression(x[op](a.re));
  }
}
