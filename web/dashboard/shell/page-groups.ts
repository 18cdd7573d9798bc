import type { TextKey } from '../texts/parts.ts';

/** The groups of the navigation, in their order; each is the name of a text. */
export const PAGE_GROUPS = ['payments', 'money', 'developers', 'settings'] as const satisfies readonly TextKey[];
export type PageGroup = (typeof PAGE_GROUPS)[number];

const CHOICE = 'cointill.folded';

/** The groups of the navigation that are folded on this device; none at first. */
export function foldedGroups(): ReadonlySet<PageGroup> {
  try {
    const names = (localStorage.getItem(CHOICE) ?? '').split(' ');
    return new Set(PAGE_GROUPS.filter((group) => names.includes(group)));
  } catch {
    return new Set();
  }
}

/** Remembers them on this device. */
export function rememberFolded(groups: ReadonlySet<PageGroup>): void {
  try {
    localStorage.setItem(CHOICE, [...groups].join(' '));
  } catch {
    // Without storage, the choice lasts until the page is reloaded.
  }
}
