import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createConcurrencyLimit } from './concurrency-limit.ts';

it('nobody has more under way than allowed, nobody waits for another, and everybody comes in the order of asking', async () => {
  const work = fc.record({ whose: fc.constantFrom('a', 'b', 'c'), fails: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(work, { maxLength: 30 }),
      fc.scheduler(),
      async (atOnce, all, scheduler) => {
        const limited = createConcurrencyLimit(atOnce);
        const running = new Map<string, number>();
        const begun: number[] = [];
        const done = all.map(({ whose, fails }, index) =>
          limited(whose, async () => {
            begun.push(index);
            running.set(whose, (running.get(whose) ?? 0) + 1);
            expect(running.get(whose)).toBeLessThanOrEqual(atOnce);
            await scheduler.schedule(Promise.resolve());
            running.set(whose, (running.get(whose) ?? 0) - 1);
            if (fails) throw new Error('failed');
            return index;
          }),
        );
        const settled = Promise.allSettled(done);
        // Work with a free slot began without waiting for anything.
        const firsts = all.filter(
          ({ whose }, index) => all.slice(0, index).filter((one) => one.whose === whose).length < atOnce,
        );
        expect(begun).toHaveLength(firsts.length);
        await scheduler.waitFor(settled);
        for (const who of ['a', 'b', 'c']) {
          const own = begun.filter((index) => all[index]?.whose === who);
          expect(own).toEqual(own.toSorted((one, other) => one - other));
        }
        expect(begun).toHaveLength(all.length);
        expect((await settled).map(({ status }) => status === 'rejected')).toEqual(all.map(({ fails }) => fails));
      },
    ),
  );
});
