import { expect, it } from 'vitest';
import { sharedAnswer } from './shared-answer.ts';

it('asks once for all who come while it asks, and again only when the answer is too old', async () => {
  let [now, asked] = [0, 0];
  const ask = sharedAnswer(
    500,
    () => Promise.resolve((asked += 1)),
    () => now,
  );
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 1, 1]);
  now = 499;
  expect(await ask()).toBe(1);
  now = 500;
  expect(await ask()).toBe(2);
});

it('shares a failure with those who waited for it, and asks again for the next', async () => {
  let asked = 0;
  const ask = sharedAnswer(500, () => {
    asked += 1;
    return asked === 1 ? Promise.reject(new Error('away')) : Promise.resolve('there');
  });
  const first = await Promise.allSettled([ask(), ask()]);
  expect(first.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await ask()).toBe('there');
  expect(asked).toBe(2);
});
