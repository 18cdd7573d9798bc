import { contradictions, type Contradiction } from './books.ts';
import { CONFIRMATIONS, type Scene } from './scene.ts';
import type { Shop } from './shop.ts';

/** The program gets so long to say the same as the chain, */
const PATIENCE_MS = 120_000;
/** and what did not change for so long stays as it is; */
const UNCHANGED_MS = 15_000;
/** but the deliveries of a killed process wait for a minute. */
const DELIVERY_MS = 75_000;

/**
 * All is well again and everything deep enough; the program gets time to say so. Answers with what is new. A run that
 * is stopped gives the program no time, and concludes nothing.
 */
export async function quietPoint(
  scene: Scene,
  known: ReadonlySet<string>,
  isStopped: () => boolean,
): Promise<readonly Contradiction[]> {
  const { shop, chain } = scene;
  chain.intercept(() => null);
  // A start also looks at payments that ended, which is otherwise done every ten minutes.
  await shop.service.stop();
  await shop.service.start();
  await chain.mine(2 * CONFIRMATIONS);
  const startedAt = performance.now();
  let [changedAt, before] = [startedAt, ''];
  for (;;) {
    const isChecked = chain.network !== 'ethereum' || (await checkDeposits(shop));
    const isFollowed = ((await shop.cursor()) ?? 0) >= (await chain.head());
    const found = (await contradictions(scene)).filter((one) => !known.has(keyOf(one)));
    const facts = JSON.stringify(found);
    const now = performance.now();
    if (facts !== before || !isChecked || !isFollowed) [changedAt, before] = [now, facts];
    const isOfEvents = found.some(({ about }) => about.includes('event'));
    if (isStopped()) return [];
    const isFinal = now - changedAt > (isOfEvents ? DELIVERY_MS : UNCHANGED_MS) || now - startedAt > PATIENCE_MS;
    if (found.length === 0 || isFinal) return found;
    await new Promise((resolve) => setTimeout(resolve, 1_100));
  }
}

/** Checks deposits, which finds outside sweeps. Returns whether it ended: a busy machine may take too long. */
async function checkDeposits(shop: Shop): Promise<boolean> {
  try {
    const { networks } = await shop.dashboard('/sweeps/check', {});
    return Array.isArray(networks) && networks.every((one: unknown) => Object(one).problem === null);
  } catch {
    return false;
  }
}

/** A sum that was wrong stays wrong: it is said again only when the difference is another one. */
export function keyOf({ subject, about, program, chain }: Contradiction): string {
  return `${subject} ${about} ${program} ${chain}`;
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Prints contradictions by what they are about. Returns how many subjects there are. */
export function printContradictions(when: string, found: readonly Contradiction[]): number {
  const bySubject = Map.groupBy(found, ({ subject }) => subject);
  for (const [subject, ofSubject] of bySubject) {
    say(`CONTRADICTION (${when}) ${subject}`);
    for (const { about, program, chain } of ofSubject) say(`  ${about}: ${program}, but by the chain ${chain}`);
    for (const line of ofSubject[0]?.story ?? []) say(`    ${line}`);
  }
  return bySubject.size;
}
