import { lazy } from 'react';

/** `SignDialog`, whose script comes when it is opened first. */
export const LazySignDialog = lazy(async () => ({ default: (await import('./sign-dialog.tsx')).SignDialog }));
