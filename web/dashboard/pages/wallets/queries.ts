import type { WalletsView } from '../../../../src/http/dashboard/wallets/contract.ts';
import { reads } from '../../api.ts';
import { useDashboard } from '../../dashboard.ts';
import { useScope, type Scope } from '../../scope.ts';

/** No stream reports the state of networks. */
const EVERY_MS = 15_000;

export function walletsQuery({ project }: Scope) {
  const query = reads(['wallets', project], 'GET /dashboard/api/projects/:project/wallets', { params: { project } });
  return { ...query, refetchInterval: EVERY_MS };
}

/** Shows the answer of a change, and reads everything again after a refused one. */
export function useWalletsCache(): {
  readonly show: (wallets: WalletsView) => void;
  readonly reload: () => void;
} {
  const { queries } = useDashboard();
  const { queryKey } = walletsQuery(useScope());
  return {
    show: (wallets) => void queries.setQueryData(queryKey, wallets),
    reload: () => void queries.invalidateQueries({ queryKey }),
  };
}
