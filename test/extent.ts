const named = process.env['TESTS'] ?? 'all';

/** Whether a run leaves out what `test/main-tests.ts` says, and tries one kind of UTXO node a file: `npm test`. */
export const isMain = named === 'main';

/** Whether a run also tries what takes too long for every change: `scripts/nightly.sh`. */
export const isNight = named === 'night';
