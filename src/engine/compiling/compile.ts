/** Programs of patterns for a device: lowered to kernels, compiled, with memory for what lies between them. */
import type { Backend } from '../../devices/device.ts';
import { type ProgramPieces, type ProgramTarget, programPieces, USUALLY } from '../../kernels/programs/index.ts';
import { type Program, requireProgram } from '../../patterns/language/program.ts';
import { realsOfType, resolvedSizes } from '../../patterns/language/sizing.ts';
import { isMap, reachableValues, scalarOps, type Value } from '../../patterns/language/values.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { show } from '../../problem/errors.ts';
import { FftError } from '../../problem/index.ts';
import { type SideFacts, sideFactsOf } from '../arguments/arguments.ts';
import { readOptions } from '../arguments/options.ts';
import { type LazyGroup, loadGroups } from '../lazy/lazy-modules.ts';
import { programLoaders } from '../lazy/lazy-tables.ts';
import { type CodeOptions, ProgramCode } from './code.ts';
import { CompiledProgram, type ProgramInput } from './compiled-program.ts';
import type { ProgramHost } from './host.ts';
import { type RankRequest, rankWays } from './ranking.ts';
import type { CompileProgramOptions } from './registry.ts';
import { fastestWay } from './trials.ts';
import { stencilWaysOf, type Way, withoutStencils } from './ways.ts';

const OPTIONS = { works: ['sizes', 'precision', 'strategy'] };

/** See `Device.compile`. */
export async function compileProgram(
  host: ProgramHost,
  given: Program,
  options: CompileProgramOptions,
): Promise<CompiledProgram> {
  const program = requireProgram(given, 'compile');
  const { sizes: named, precision, strategy } = readCompileOptions(options);
  await host.requirePrecision(precision);
  const { backend } = host;
  const { profile } = backend;
  const sizes = resolvedSizes(program, named);
  const ways = await loadWays(program, strategy);
  await loadModules(program, backend, ways.length > 1);
  if (strategy === 'measure' && backend.store) await loadGroups(['kept plans']);
  const target = programTarget(profile, precision);
  const numbers = precision === 'single' ? 'f32' : 'f64';
  const lowered = (way: Way) => {
    return programPieces(way.stencils ? withoutStencils(program)! : program, sizes, numbers, target, way);
  };
  const factsOf = (reals: number): SideFacts => ({ layout: 'real', ...sideFactsOf(precision, reals, profile) });
  const inputs = program.parameters.map(({ details, type }): ProgramInput => {
    return { name: details.name!, isNumber: type.kind !== 'array', facts: factsOf(realsOfType(type, sizes)) };
  });
  const output = factsOf(realsOfType(program.body.type, sizes));
  const sides = [...inputs.map(({ facts }) => facts), output];
  const codeOf = (pieces: ProgramPieces): Promise<ProgramCode> => {
    refuseLargeBuffers(pieces, sides, profile);
    const names = inputs.map(({ name }) => name);
    return readyCode({ host, pieces, precision, inputs: names, bytes: output.bytes });
  };
  const realsIn = (buffer: string) => {
    const side = inputs.findIndex(({ name }) => buffer === `input ${name}`);
    return (sides[side] ?? output).length;
  };
  const ranked = { profile, precision, realsIn, piecesOf: lowered };
  const trial = { host, program, key: JSON.stringify([[...sizes], precision]), sides, codeOf, ...ranked };
  const way = strategy === 'measure' ? await fastestWay(trial) : await cheapestWay(ways, ranked);
  const code = await codeOf(lowered(way));
  try {
    host.check();
  } catch (error) {
    code.release();
    throw error;
  }
  return new CompiledProgram(host, { inputs, output, code });
}

/**
 * The ways in which the program may be compiled without being timed. Where there can only be one, nothing that compares ways is loaded: only
 * periodic stencils have another one.
 */
async function loadWays(program: Program, strategy: 'fast' | 'measure'): Promise<Way[]> {
  const isPeriodic = reachableValues(program.body).some(({ details }) => details.boundary === 'wrap');
  if (!isPeriodic && strategy === 'fast') return [USUALLY];
  await loadGroups(['programs in several ways'], programLoaders);
  return stencilWaysOf(program);
}

/**
 * Loads the modules that lower and plan a program, by its patterns. Butterflies of large primes need convolutions. @param hasTransforms whether stencils may become transforms, whose factors are a table
 */
async function loadModules({ body }: Program, { profile }: Backend, hasTransforms: boolean): Promise<void> {
  const values = reachableValues(body);
  const has = (pattern: RegExp) => values.some(({ op }) => pattern.test(op));
  const isGrouped = has(/^mapWorkgroup$/);
  const hasLoops = has(/^reduce/) || values.some(({ op, type }) => op === 'iterate' && type.kind !== 'array');
  const own: readonly (readonly [LazyGroup, boolean])[] = [
    ['transforms in programs', hasTransforms || has(/fft$/)],
    ['sums in programs', hasLoops],
    ['tables in programs', hasTransforms || has(/^array$/)],
    ['tiles in programs', hasLoops || values.some(hasLoopsInLoops)],
    ['logarithms in programs', has(/^(log|exp)$/)],
    ['work-groups in programs', isGrouped],
  ];
  const named = own.filter(([, isNeeded]) => isNeeded).map(([name]) => name);
  await loadGroups(values.some(rearranges) ? ['layouts'] : []);
  await loadGroups(has(/^i?dft$/) ? ['large primes', 'layouts'] : []);
  await loadGroups(named, programLoaders);
  if (isGrouped && profile.lockstep === 'threads') await loadGroups(['threads']);
}

/** Whether lowering a value may change the layout of an array; partial results of sums do, and maps of what is not computed. */
function rearranges(value: Value): boolean {
  if (isMap(value)) return !(scalarOps as readonly string[]).includes(value.f!.body.op);
  return /^(split|join|transpose|slide|pad|reduce|to)/.test(value.op);
}

/** Whether storing a value may take loops in loops: an array of arrays, or a map whose function computes arrays. */
function hasLoopsInLoops(value: Value): boolean {
  const { type, f } = value;
  if (type.kind === 'array' && type.of.kind === 'array') return true;
  return isMap(value) && reachableValues(f!.body).some((inner) => inner.type.kind === 'array');
}

/** Code that is ready to run: kernels are compiled, tables are on the device. */
async function readyCode(options: CodeOptions): Promise<ProgramCode> {
  const { host } = options;
  const code = await ProgramCode.of(options);
  try {
    host.check();
    host.cache.fillTables();
    await Promise.all([host.backend.warmUp(code.kernels), host.cache.filled()]);
    return code;
  } catch (error) {
    code.release();
    throw error;
  }
}

/** The cheapest way to compile a program by estimated price. */
async function cheapestWay(ways: readonly Way[], request: RankRequest): Promise<Way> {
  return ways.length === 1 ? ways[0]! : (await rankWays(ways, request))[0]!.way;
}

function readCompileOptions(given: CompileProgramOptions): {
  readonly sizes: unknown;
  readonly precision: 'single' | 'double';
  readonly strategy: 'fast' | 'measure';
} {
  const { sizes, precision = 'single', strategy = 'fast' } = readOptions(given, OPTIONS, 'compile', 2);
  if (precision !== 'single' && precision !== 'double') {
    const message = `compile.precision is ${show(precision)}; it takes 'single' or 'double'.`;
    throw new FftError('invalid-argument', message, { path: 'compile.precision' });
  }
  if (strategy !== 'fast' && strategy !== 'measure') {
    const message = `compile.strategy is ${show(strategy)}; it takes 'fast' or 'measure'.`;
    throw new FftError('invalid-argument', message, { path: 'compile.strategy' });
  }
  return { sizes, precision, strategy };
}

function programTarget(profile: DeviceProfile, precision: 'single' | 'double'): ProgramTarget {
  const { lockstep, lockstepBytes, maxThreads, multiprocessors, sharedBytes, banks, doubleBuffered } = profile;
  const lanes = Math.max(1, lockstepBytes / (precision === 'single' ? 4 : 8));
  return { lockstep, lanes, maxThreads, multiprocessors, sharedBytes, banks, doubleBuffered };
}

function refuseLargeBuffers(
  { buffers }: ProgramPieces,
  sides: readonly SideFacts[],
  { name, maxBytes }: DeviceProfile,
): void {
  if (maxBytes === undefined) return;
  const outer = sides.reduce((sum, { length, bytes }) => sum + length * bytes, 0);
  const between = [...buffers.values()].reduce((sum, reals) => sum + reals * sides[0]!.bytes, 0);
  if (outer + between <= maxBytes) return;
  const message =
    `This program needs ${outer + between} bytes of device memory (${between} for arrays that it stores between); ` +
    `${name} can address ${maxBytes}.`;
  throw new FftError('device-limit', message, { path: 'sizes' });
}
