import type { enSweeps } from './en-sweeps.ts';
import type { TextsLike } from './en.ts';

export const deSweeps: TextsLike<typeof enSweeps> = {
  sweeps_intro: 'Geld auf Einzahlungsverträgen und sein Weg zur Kasse.',
};
