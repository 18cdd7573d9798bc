import path from 'node:path';

/** One room of `src/`: a folder and its purpose. A sub-folder that is not listed belongs to the room around it. */
export interface Room {
  /** The rooms that it may import; all others are refused. */
  readonly imports: readonly string[];
  /** It imports no package and nothing of Node. */
  readonly isPure?: true;
}

/** Mechanisms: each may import the domain, and none may import another. */
const MECHANISMS = ['domain', 'wire', 'store', 'rails', 'rates', 'webhooks', 'mail', 'modes', 'documents'] as const;
/** The own ways of each family of networks: imported by `rails`, and by code for that family only. */
const FAMILIES = ['rails/utxo', 'rails/evm'] as const;
const USE_CASES = [
  'app',
  'app/payments',
  'app/payment-requests',
  'app/refunds',
  'app/chains',
  'app/live',
  'app/projects',
  'app/sweeps',
  'app/webhooks',
  'app/sandbox',
  'app/people',
  'app/dashboard',
  'app/notifications',
] as const;
const HTTP = ['domain', 'wire', 'store', ...USE_CASES, 'http', 'http/pages'] as const;
const APIS = [
  'http/orders',
  'http/invoices',
  'http/payment-requests',
  'http/transactions',
  'http/refunds',
  'http/events',
  'http/checkout',
  'http/dashboard',
  'http/docs',
  'http/greenfield',
  'http/openapi',
] as const;

/** Parts that service and commands put together. */
const COMPOSED = [...MECHANISMS, 'embedded', ...FAMILIES, ...USE_CASES, 'archive', 'config', 'backup'] as const;

/**
 * The rooms that each room may import, from the bottom up. Any other import is refused, and so is a folder of `src/`
 * that is not listed here: add it with its imports. Tests, fixtures and other files that only tests use may import
 * anything.
 */
export const ROOMS: Readonly<Record<string, Room>> = {
  domain: { imports: [], isPure: true },
  wire: { imports: ['domain'], isPure: true },
  archive: { imports: ['domain'] },
  store: { imports: ['domain', 'wire'] },
  embedded: { imports: [] },
  threads: { imports: [] },
  rails: { imports: ['domain', 'threads', ...FAMILIES] },
  'rails/utxo': { imports: ['domain', 'rails'] },
  'rails/evm': { imports: ['domain', 'rails'] },
  rates: { imports: ['domain'] },
  webhooks: { imports: ['domain'] },
  mail: { imports: ['domain'] },
  documents: { imports: ['domain', 'threads'] },
  modes: { imports: ['domain', 'store', 'rails', 'rates'] },

  app: { imports: MECHANISMS },
  'app/payments': { imports: [...MECHANISMS, 'app'] },
  'app/payment-requests': { imports: [...MECHANISMS, 'app', 'app/payments'] },
  'app/refunds': { imports: [...MECHANISMS, 'rails/utxo', 'app', 'app/payments'] },
  'app/chains': { imports: [...MECHANISMS, 'app', 'app/payments', 'app/refunds'] },
  'app/live': { imports: [...MECHANISMS, 'app', 'app/payments'] },
  'app/projects': { imports: [...MECHANISMS, 'rails/evm', 'app'] },
  'app/sweeps': { imports: [...MECHANISMS, 'rails/evm', 'app', 'app/projects'] },
  'app/webhooks': { imports: [...MECHANISMS, 'app'] },
  'app/sandbox': { imports: [...MECHANISMS, 'app', 'app/payments', 'app/refunds', 'app/webhooks'] },
  'app/people': { imports: [...MECHANISMS, 'app', 'app/projects'] },
  'app/dashboard': { imports: [...MECHANISMS, 'app', 'app/payments', 'app/refunds', 'app/chains', 'app/projects'] },

  'app/notifications': {
    imports: [
      ...MECHANISMS,
      'app',
      'app/payments',
      'app/payment-requests',
      'app/chains',
      'app/people',
      'app/dashboard',
    ],
  },

  config: { imports: ['domain', 'rails', ...FAMILIES, 'rates', 'webhooks', 'mail'] },
  workers: { imports: ['domain', 'store', 'rails', ...USE_CASES] },
  http: { imports: ['domain', 'wire', 'store', 'config', ...USE_CASES] },
  'http/pages': { imports: ['domain', 'http'] },
  'http/orders': { imports: HTTP },
  'http/payment-requests': { imports: HTTP },
  'http/invoices': { imports: [...HTTP, 'http/orders'] },
  'http/transactions': { imports: HTTP },
  'http/refunds': { imports: HTTP },
  'http/events': { imports: HTTP },
  'http/checkout': { imports: HTTP },
  'http/dashboard': { imports: [...HTTP, 'http/payment-requests', 'webhooks'] },
  'http/docs': { imports: ['domain', 'http', 'http/pages'] },
  'http/greenfield': { imports: [...HTTP, 'webhooks'] },
  'http/openapi': { imports: [...HTTP, 'http/refunds', 'http/payment-requests'] },

  backup: {
    imports: [
      'domain',
      'wire',
      'archive',
      'store',
      'webhooks',
      'config',
      'app',
      'app/chains',
      'app/webhooks',
      'workers',
      'embedded',
    ],
  },
  service: { imports: [...COMPOSED, 'workers', 'http', 'http/pages', ...APIS] },
  cli: { imports: [...COMPOSED, 'service', 'http', 'http/checkout'] },
};

/** The files of `src/` whose types the browser may import: the contracts of the dashboard's API. */
const CONTRACTS = /^src\/http\/dashboard\/(?:[\w-]+\/)?contract(?:-parts)?\.ts$/;

const LONGEST_FIRST = Object.keys(ROOMS).toSorted((a, b) => b.length - a.length);

function roomOf(file: string): string | null {
  return LONGEST_FIRST.find((room) => file.startsWith(`src/${room}/`)) ?? null;
}

/**
 * The fault of an import in a file of `src/`, both relative to the repository's root; null: the import is allowed. An
 * import from the file's own folder (`./`) shows whether the file is in a room at all.
 */
export function importFault(file: string, target: string): string | null {
  const name = roomOf(file);
  const room = name === null ? undefined : ROOMS[name];
  if (name === null || room === undefined) return 'is in no room: name its folder in scripts/rooms.ts.';
  if (!target.startsWith('.')) {
    return room.isPure === true ? `imports ${target}, and ${name} is pure: no packages, no I/O.` : null;
  }
  const imported = path.posix.join(path.posix.dirname(file), target);
  const other = roomOf(imported);
  if (other === name || (other !== null && room.imports.includes(other)) || !imported.startsWith('src/')) return null;
  return `imports ${imported}; ${name} may import ${room.imports.join(', ') || 'nothing'}.`;
}

/**
 * The fault of an import in a file of `web/`; null: the import is allowed. Pages may import the domain, which is pure,
 * and know the rest of the server by the types of its contracts alone.
 */
export function webImportFault(file: string, target: string, isTypeOnly: boolean): string | null {
  const imported = path.posix.join(path.posix.dirname(file), target);
  if (!target.startsWith('.') || !imported.startsWith('src/') || imported.startsWith('src/domain/')) return null;
  if (isTypeOnly && CONTRACTS.test(imported)) return null;
  return `imports ${imported}; web may import src/domain/, and types of src/http/dashboard/**/contract.ts.`;
}
