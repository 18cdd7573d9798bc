import { deHome } from './de-home.ts';
import { dePayments } from './de-payments.ts';
import { deShell } from './de-shell.ts';
import type { en, TextsLike } from './en.ts';

export const de: TextsLike<typeof en> = { ...deShell, ...deHome, ...dePayments };
