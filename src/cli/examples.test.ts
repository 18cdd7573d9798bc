import { describe, expect, it } from 'vitest';
import { allCommands, wordsOf } from './all-commands.fixture.ts';
import { EXAMPLES } from './examples.ts';

describe('the examples in the help', () => {
  it('are there for each command, and for nothing else', async () => {
    const { paths } = await allCommands();
    expect(Object.keys(EXAMPLES).toSorted()).toEqual([...paths.keys()].toSorted());
  });

  it('are taken by their commands as they stand', async () => {
    for (const example of Object.values(EXAMPLES).flat()) {
      const { root } = await allCommands();
      await expect(root.parseAsync(wordsOf(example), { from: 'user' })).resolves.toBe(root);
    }
  });
});
