import { use, type ComponentType, type ReactNode, useEffect } from 'react';
import { chosenLanguage } from './locale.tsx';
import { loadTexts } from './texts/load-texts.ts';
import type { TextPart } from './texts/parts.ts';

/** A page whose script is loaded when the router asks for it, or at its first rendering. */
interface LazyPage {
  (): ReactNode;
  /** Called by the router before it shows the page, and again after a fault. */
  readonly preload: () => Promise<void>;
}

type Loaded =
  | { readonly kind: 'page'; readonly Page: ComponentType }
  | { readonly kind: 'fault'; readonly error: unknown };

/**
 * Like the router's own `lazyRouteComponent`, which reloads the whole document when a script cannot be fetched: typed
 * text would be lost after an upgrade, and offline the browser's error page would replace this one. Here the error page
 * reports the fault (docs/design/dashboard.md).
 */
export function lazyPage<Name extends string>(
  load: () => Promise<Readonly<Record<Name, ComponentType>>>,
  name: Name,
  ...texts: readonly TextPart[]
): LazyPage {
  let loaded: Loaded | null = null;
  let loading: Promise<Loaded> | null = null;
  const start = (): Promise<Loaded> =>
    (loading ??= Promise.all([load(), loadTexts(chosenLanguage(), ...texts)])
      .then(
        ([module]): Loaded => ({ kind: 'page', Page: module[name] }),
        (error: unknown): Loaded => ({ kind: 'fault', error }),
      )
      .then((result) => {
        loading = null;
        return (loaded = result);
      }));
  function Lazy() {
    const result = loaded ?? use(start());
    if (result.kind === 'fault') throw result.error;
    return <result.Page />;
  }
  return Object.assign(Lazy, {
    preload: async (): Promise<void> => {
      if (loaded?.kind === 'fault') loaded = null;
      if (loaded === null) await start();
    },
  });
}

const SOON_MS = 1_500;

/** Preloads code once the browser is idle. */
export function useWhenIdle(load: () => Promise<unknown>): void {
  useEffect(() => {
    // A failure is reported when the code is needed and loaded again.
    const start = (): void => void load().catch(() => {});
    if (typeof requestIdleCallback === 'function') {
      const handle = requestIdleCallback(start, { timeout: SOON_MS });
      return () => cancelIdleCallback(handle);
    }
    const timer = setTimeout(start, SOON_MS);
    return () => clearTimeout(timer);
    // `load` never changes.
  }, []);
}
