/**
 * The names of what `using` and `await using` call at the end of a block. Engines that know neither have other symbols,
 * those that compilers fall back to as well.
 */

declare global {
  interface SymbolConstructor {
    // As TypeScript declares them where the library is asked for: there they are the same.
    readonly dispose: unique symbol;
    readonly asyncDispose: unique symbol;
  }
}

export const dispose: typeof Symbol.dispose = Symbol.dispose ?? (Symbol.for('Symbol.dispose') as never);
export const asyncDispose: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? (Symbol.for('Symbol.asyncDispose') as never);
