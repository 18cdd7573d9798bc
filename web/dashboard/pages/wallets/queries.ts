import { queryOptions } from '@tanstack/react-query';
import type { WalletsView } from '../../../../src/http/dashboard/wallets/contract.ts';
import type { Api } from '../../api.ts';
import { useDashboard } from '../../dashboard.ts';
import { useScope, type Scope } from '../../scope.ts';

/** No stream reports how networks are. */
const EVERY_MS = 15_000;

export function walletsQuery(api: Api, { project }: Pick<Scope, 'project'>) {
  return queryOptions({
    queryKey: ['wallets', project],
    queryFn: ({ signal }) => api('GET /dashboard/api/projects/:project/wallets', { params: { project } }, signal),
    refetchInterval: EVERY_MS,
  });
}

/** Shows what a change answered, and reads all of it again after one that was refused. */
export function useWalletsCache(): {
  readonly show: (wallets: WalletsView) => void;
  readonly reload: () => void;
} {
  const { api, queries } = useDashboard();
  const { queryKey } = walletsQuery(api, useScope());
  return {
    show: (wallets) => void queries.setQueryData(queryKey, wallets),
    reload: () => void queries.invalidateQueries({ queryKey }),
  };
}
