import { lazy } from 'react';

/** `SignDialog`, whose script is loaded when it is first opened. */
export const LazySignDialog = lazy(async () => ({ default: (await import('./sign-dialog.tsx')).SignDialog }));
