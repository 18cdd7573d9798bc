import { workerData } from 'node:worker_threads';
import { answerRequests } from '../threads/answer-requests.ts';
import { derivingWith, type DeriveAddresses } from './derive-addresses.ts';
import type { UtxoChains } from './family.ts';
import { createWalletOpener } from './wallet.ts';

/** The program of the thread that `address-thread.ts` starts. */
const derive = derivingWith(createWalletOpener(workerData as UtxoChains));

answerRequests((wanted: Parameters<DeriveAddresses>) => derive(...wanted));
