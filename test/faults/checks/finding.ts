/** A fault of the system after the game day. */
export interface Finding {
  /** The scenario during which the upload began; `all` if none. */
  readonly scenario: string;
  readonly what: string;
  /** An id, key or service. */
  readonly which: string;
}

const atOnce = 16;

/** The findings of `check` for all items, sixteen at a time. */
export async function findEach<T>(all: readonly T[], check: (one: T) => Promise<Finding[]>): Promise<Finding[]> {
  const remaining = all.values();
  const found: Finding[] = [];
  const checks = Array.from({ length: atOnce }, async () => {
    for (const one of remaining) found.push(...(await check(one)));
  });
  await Promise.all(checks);
  return found;
}
