import { useNavigate, useSearch } from '@tanstack/react-router';
import { unreadOf } from './unread.ts';

/** What of a log's search changes; undefined removes a value. */
export type LogChange = Readonly<Record<string, string | undefined>>;

/** The filters and the chosen row of a log, which are in the URL. `read` drops what it does not know. */
export function useLogSearch<Search extends { readonly show?: string }>(
  read: (given: Readonly<Record<string, unknown>>) => Search,
) {
  const given: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const search = read(given);
  const navigate = useNavigate();
  const set = (change: LogChange, replace: boolean): void =>
    void navigate({ to: '.', search: (before) => read({ ...before, ...change }), replace, resetScroll: false });
  return {
    search,
    /** What the address asks for and `read` does not know: it narrows nothing. */
    unread: unreadOf(given, search),
    /** Filters replace the address: the way back leads to the page before. */
    onChange: (change: LogChange): void => set(change, true),
    onShow: (show: string | undefined): void => set({ show }, show !== undefined && search.show !== undefined),
  };
}
