/** Lists of the cheapest: what every search of the planner gives, however many of them somebody wants to see. */

export interface Priced<T> {
  readonly value: T;
  /** In the device's unit: see `cost.ts`. */
  readonly price: number;
}

/** Prices that differ by less are the same, and what was found first stays first. */
const TOLERANCE = 1e-9;

/** Puts one more into a list of the cheapest, cheapest first; at most so many stay. */
export function keepCheapest<T>(list: Priced<T>[], one: Priced<T>, most: number): void {
  const place = list.findIndex(({ price }) => one.price < price - TOLERANCE);
  if (place >= 0) list.splice(place, 0, one);
  else if (list.length < most) list.push(one);
  if (list.length > most) list.pop();
}

/** Whether something of at least this price would change nothing. */
export function isFull(list: readonly Priced<unknown>[], most: number, price: number): boolean {
  return list.length >= most && list.at(-1)!.price <= price;
}

/** The cheapest ways to take one of each list. */
export function cheapestOfEach<T>(lists: readonly (readonly Priced<T>[])[], most: number): Priced<readonly T[]>[] {
  let ways: Priced<readonly T[]>[] = [{ value: [], price: 0 }];
  for (const list of lists) {
    const longer: Priced<readonly T[]>[] = [];
    for (const way of ways) {
      for (const { value, price } of list)
        keepCheapest(longer, { value: [...way.value, value], price: way.price + price }, most);
    }
    ways = longer;
  }
  return ways;
}

/** What there is, where it fits the profile: searches throw RangeErrors where nothing does. */
export function ifFits<T>(way: () => T): T | undefined {
  try {
    return way();
  } catch (cause) {
    if (cause instanceof RangeError) return undefined;
    throw cause;
  }
}
