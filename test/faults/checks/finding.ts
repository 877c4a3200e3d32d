/** What is wrong with the system after the game day. */
export interface Finding {
  /** Under which scenario the upload was begun; `all` if it belongs to none. */
  readonly scenario: string;
  readonly what: string;
  /** An id, a key, a service. */
  readonly which: string;
}

const atOnce = 16;

/** What `look` finds of each, sixteen at once. */
export async function findEach<T>(all: readonly T[], look: (one: T) => Promise<Finding[]>): Promise<Finding[]> {
  const left = all.values();
  const found: Finding[] = [];
  const looking = Array.from({ length: atOnce }, async () => {
    for (const one of left) found.push(...(await look(one)));
  });
  await Promise.all(looking);
  return found;
}
