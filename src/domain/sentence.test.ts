import { expect, it } from 'vitest';
import { invalid, sentence } from './sentence.ts';

it('a value that does not pass a check has a fault: the code of a sentence, and its values', () => {
  const wayOut = sentence('way_out_evm_key');
  expect(wayOut).toEqual({ code: 'way_out_evm_key', values: {} });
  expect(invalid('key_empty', { wayOut })).toEqual({
    kind: 'invalid',
    fault: { code: 'key_empty', values: { wayOut } },
  });
});
