import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { testDatabase } from '../../../test/database.ts';
import { copyOut } from './copy.ts';

const ROWS = 60;

it('a copy that nobody takes any more ends its connection once, however much waits to be taken', async () => {
  const client = await (await testDatabase()).connect();
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const gone = Promise.withResolvers<void>();
  let rows = 0;
  // Six megabytes: more than twenty pieces wait when the first one fails.
  const copied = copyOut(
    client,
    `copy (select repeat('x', 100000) from generate_series(1, ${ROWS})) to stdout`,
    () => gone.promise,
    (row) => {
      rows += 1;
      if (rows === ROWS) gone.reject(new Error('the receiver is gone'));
      return row;
    },
  );
  await expect(copied).rejects.toThrow('the receiver is gone');
  await turn();
  expect(warnings).toEqual([]);
});
