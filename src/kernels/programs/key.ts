/** Kernels of programs as texts that are equal for equal kernels, whatever numbers their variables and nodes have. */
import {
  type Atom,
  type Guard,
  type Index,
  type Kernel,
  operandsOf,
  type Real,
  reachable,
  type Var,
} from '../../ir/index.ts';
import { key as exactKey } from '../../numeric/exact.ts';

export function kernelKey(kernel: Kernel): string {
  const names = new Map<Var, number>();
  const indexText = ({ constant, terms }: Index): string =>
    // Terms are sorted by numbers that differ from one kernel to the next.
    [...terms.map(({ atom, factor }) => `${factor}*${atomText(atom)}`).sort(), constant].join('+');
  const atomText = (atom: Atom): string => {
    if (atom.kind === 'lookup') return `${atom.table.key}[${indexText(atom.argument)}]`;
    if (atom.kind !== 'var') return `(${indexText(atom.argument)})${atom.kind}${atom.by}`;
    if (!names.has(atom)) names.set(atom, names.size);
    return `v${names.get(atom)}:${atom.count}`;
  };
  const guardText = (guard: Guard = []) =>
    guard.map((bound) => `${bound.outside ? '!' : ''}${bound.from}<=${indexText(bound.index)}<${bound.to}`).join('&');
  const { phases, globals, tables, shared, group, precision, threads } = kernel;
  const lines = [
    precision,
    threads,
    atomText(group),
    globals.map(({ name, type }) => `${name}:${type}`),
    tables.map(({ key }) => key),
    shared.map(({ length }) => length),
  ];
  for (const { loops, lanes, stores, readsFirst } of phases) {
    for (const { variable, limit } of loops) lines.push(`for ${atomText(variable)} ${limit ? indexText(limit) : ''}`);
    lines.push(`lanes ${atomText(lanes)} ${readsFirst ? 'loads first' : ''}`);
    const numbers = new Map<Real, number>();
    for (const node of reachable(stores.map(({ value }) => value))) {
      const detail: string[] = [];
      if (node.op === 'const' || node.op === 'conj') detail.push(exactKey(node.value));
      if (node.op === 'load') detail.push(node.array.name, indexText(node.index));
      if (node.op === 'load' || node.op === 'where') detail.push(guardText(node.guard));
      if (node.op === 'select') detail.push(node.comparison);
      if (node.op === 'carried') detail.push(atomText(node.over), `${node.slot}`);
      if (node.op === 'fold') detail.push(atomText(node.loop.over), `${node.slot} of ${node.loop.first.length}`);
      lines.push(`${node.op} ${detail.join(' ')} ${operandsOf(node).map((operand) => numbers.get(operand))}`);
      numbers.set(node, numbers.size);
    }
    for (const { array, index, value, guard } of stores) {
      lines.push(`${array.name}[${indexText(index)}] = ${numbers.get(value)} ${guardText(guard)}`);
    }
  }
  return lines.join('\n');
}
