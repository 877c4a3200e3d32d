/** A fault of the system after the game day. */
export interface Finding {
  /** The scenario during which the upload began; `all` if none. */
  readonly scenario: string;
  readonly what: string;
  /** An id, a key, a service. */
  readonly which: string;
}

const atOnce = 16;

/** The findings of `look` for all items, sixteen at a time. */
export async function findEach<T>(all: readonly T[], look: (one: T) => Promise<Finding[]>): Promise<Finding[]> {
  const left = all.values();
  const found: Finding[] = [];
  const looking = Array.from({ length: atOnce }, async () => {
    for (const one of left) found.push(...(await look(one)));
  });
  await Promise.all(looking);
  return found;
}
