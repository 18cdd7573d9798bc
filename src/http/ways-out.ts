import { isEvmNetwork } from '../domain/networks.ts';
import type { Refusal, WayOut } from '../domain/way-out.ts';

/** A refusal with the command that helps, if one does. */
export function messageOf({ message, wayOut }: Refusal): string {
  return wayOut === undefined ? message : `${message} ${commandOf(wayOut)}`;
}

function commandOf(wayOut: WayOut): string {
  switch (wayOut.kind) {
    case 'set_up': {
      const { projectId, network, settings } = wayOut;
      const source = network !== null && isEvmNetwork(network) ? '--treasury 0x… or --xpub XPUB' : '--xpub XPUB';
      const wallet = `cointill wallet set --project ${projectId} --network ${network ?? 'NETWORK'} ${source}`;
      return `Set a wallet for the project (${wallet}) and a node for the service (${settings}).`;
    }
    case 'set_wallet':
      return 'with: cointill wallet set';
    case 'network_status':
      return '(see cointill network status).';
  }
}
