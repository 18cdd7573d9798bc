import { lazy } from 'react';
import { chosenLanguage } from '../../../locale.tsx';
import { loadTexts } from '../../../texts/load-texts.ts';

/** `SignDialog`, whose script and texts come when it is opened first. */
export const LazySignDialog = lazy(async () => {
  const [{ SignDialog }] = await Promise.all([
    import('./sign-dialog.tsx'),
    loadTexts(chosenLanguage(), 'signing', 'browserWallets'),
  ]);
  return { default: SignDialog };
});
