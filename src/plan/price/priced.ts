/** Lists of the cheapest candidates: the result of every search of the planner, however many candidates the caller wants. */

export interface Priced<T> {
  readonly value: T;
  /** The price in the device's unit: see `cost.ts`. */
  readonly price: number;
}

/** The difference below which two prices count as equal: the candidate that was found first then stays first. */
const TOLERANCE = 1e-9;

/** Adds a candidate to a list of the cheapest, cheapest first; the list keeps at most `most`. */
export function keepCheapest<T>(list: Priced<T>[], one: Priced<T>, most: number): void {
  const place = list.findIndex(({ price }) => one.price < price - TOLERANCE);
  if (place >= 0) list.splice(place, 0, one);
  else if (list.length < most) list.push(one);
  if (list.length > most) list.pop();
}

/** Whether a candidate of at least this price would leave the list as it is. */
export function isFull(list: readonly Priced<unknown>[], most: number, price: number): boolean {
  return list.length >= most && list.at(-1)!.price <= price;
}

/** The cheapest combinations of one candidate from each list. */
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

/** The result of a search; undefined where nothing fits the profile, which searches say by a RangeError. */
export function ifFits<T>(way: () => T): T | undefined {
  try {
    return way();
  } catch (cause) {
    if (cause instanceof RangeError) return undefined;
    throw cause;
  }
}
