import { use, type ComponentType, type ReactNode } from 'react';

/** A page whose script comes when the router asks for it, or at its first rendering. */
interface LazyPage {
  (): ReactNode;
  /** What the router calls before it shows the page, and again after a fault. */
  readonly preload: () => Promise<void>;
}

/**
 * As the router's own `lazyRouteComponent`, which loads the whole document anew when a script does not come: what was
 * typed would be lost after an upgrade, and without a connection the browser's own page would take this one's place.
 * Here the fault is the error page's to tell (docs/decisions/0106).
 */
export function lazyPage<Name extends string>(
  load: () => Promise<Readonly<Record<Name, ComponentType>>>,
  name: Name,
): LazyPage {
  let page: ComponentType | null = null;
  let fault: { readonly error: unknown } | null = null;
  let loading: Promise<void> | null = null;
  const preload = (): Promise<void> => {
    if (page !== null) return Promise.resolve();
    fault = null;
    loading ??= load()
      .then((module) => void (page = module[name]))
      .catch((error: unknown) => void (fault = { error }))
      .finally(() => (loading = null));
    return loading;
  };
  function Lazy() {
    if (fault !== null) throw fault.error;
    if (page === null) use(preload());
    const Page = page;
    // The rendering that waited for the script begins anew, and may find a fault.
    if (Page === null) throw fault?.error ?? new Error(`There is no page ${name}.`);
    return <Page />;
  }
  return Object.assign(Lazy, { preload });
}
