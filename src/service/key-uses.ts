import { createKeyUses, type KeyUses } from '../app/projects/key-uses.ts';
import { startLoop } from '../workers/loop.ts';
import type { Cointill } from './core.ts';

/** When a key was last used is shown to the minute. */
const SAVE_USES_MS = 20_000;

/** Saves where keys are used from, every while and at the end. */
export function startKeyUses({ app, troubles }: Cointill): {
  readonly keyUses: KeyUses;
  readonly stopUses: () => Promise<void>;
} {
  const keyUses = createKeyUses(app.db, app.clock);
  const work = () => keyUses.save().then(() => false);
  const loop = startLoop({ name: 'uses of keys', work, restMs: SAVE_USES_MS, troubles });
  return {
    keyUses,
    stopUses: async () => {
      await loop.stop();
      await keyUses.save();
    },
  };
}
