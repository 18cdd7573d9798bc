import { parentPort, workerData } from 'node:worker_threads';
import { derivingWith } from './derive-addresses.ts';
import { END, type AddressRequest } from './address-thread.ts';
import type { UtxoChains } from './family.ts';
import { createWalletOpener } from './wallet.ts';

/** The program of the thread that `address-thread.ts` starts. */
const derive = derivingWith(createWalletOpener(workerData as UtxoChains));

parentPort?.on('message', (message: AddressRequest | typeof END) => {
  if (message === END) {
    parentPort?.close();
    return;
  }
  const { id, wanted } = message;
  derive(...wanted).then(
    (addresses) => parentPort?.postMessage({ id, addresses }),
    (error: unknown) => parentPort?.postMessage({ id, error }),
  );
});
