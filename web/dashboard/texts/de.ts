import { deAccess } from './de-access.ts';
import { deDetail } from './de-detail.ts';
import { deAttention } from './de-attention.ts';
import { deHome } from './de-home.ts';
import { deList } from './de-list.ts';
import { dePayments } from './de-payments.ts';
import { deShell } from './de-shell.ts';
import type { Texts } from './en.ts';

export const de: Texts = { ...deShell, ...deAccess, ...dePayments, ...deDetail, ...deHome, ...deList, ...deAttention };
