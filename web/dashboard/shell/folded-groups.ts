import { PAGE_GROUPS, type PageGroup } from './pages.ts';

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
