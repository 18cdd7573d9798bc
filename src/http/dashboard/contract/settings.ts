import type { Contracts } from './route.ts';

/** The routes of the page of settings. */
export const settingsContract = {} satisfies Contracts;
