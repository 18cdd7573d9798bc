import { describe, expect, it } from 'vitest';
import { descriptorChecksum } from './descriptor-checksum.ts';

/** The published vectors: https://github.com/bitcoin/bips/blob/master/bip-0380.mediawiki#test-vectors */
describe('the checksum of a descriptor (BIP 380)', () => {
  it('is the published one', () => {
    expect(descriptorChecksum('raw(deadbeef)')).toBe('89f8spxm');
  });

  it('differs for another payload', () => {
    expect(descriptorChecksum('raw(deedbeef)')).not.toBe('89f8spxm');
  });

  it('does not exist where a character is outside of the set', () => {
    expect(descriptorChecksum('raw(Ü)')).toBeNull();
    expect(descriptorChecksum('raw(\n)')).toBeNull();
  });

  it('notices every wrong single character, and every wrong case', () => {
    const descriptor = 'wpkh([d34db33f/84h/0h/0h]xpub6ERApfZwUNrhL/0/*)';
    const checksum = descriptorChecksum(descriptor);
    for (let place = 0; place < descriptor.length; place += 1) {
      const character = descriptor.charAt(place);
      const lower = character.toLowerCase();
      const swapped = character === lower ? character.toUpperCase() : lower;
      for (const other of [swapped, character === '7' ? '8' : '7'].filter((other) => other !== character)) {
        const changed = descriptor.slice(0, place) + other + descriptor.slice(place + 1);
        expect(descriptorChecksum(changed)).not.toBe(checksum);
      }
    }
  });
});
