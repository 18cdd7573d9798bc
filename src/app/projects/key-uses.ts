import type { Clock } from '../../domain/clock.ts';
import type { Database } from '../../store/database.ts';
import { MAX_KEY_CLIENTS, saveKeyClients, type KeyClient } from '../../store/projects/key-clients.ts';
import type { AccessKey } from './access.ts';

/** One request with a key. */
interface KeyUse {
  readonly address: string;
  /** The origin that the browser sent; undefined outside of pages. */
  readonly origin: string | undefined;
  readonly userAgent: string | undefined;
  /** Whether the allow-list let the request in. */
  readonly isAllowed: boolean;
}

/** Remembers which keys are used and from where, without a write per request. */
export interface KeyUses {
  note(key: Pick<AccessKey, 'id' | 'kind'>, use: KeyUse): void;
  /** Saves the uses since the last call. If saving fails, they are kept for the next call. */
  save(): Promise<void>;
}

type Counted = { -readonly [Field in keyof KeyClient]: KeyClient[Field] };

const MAX_ORIGIN_LENGTH = 200;
const MAX_USER_AGENT_LENGTH = 200;

/**
 * Memory is bounded by the number of keys: beyond {@link MAX_KEY_CLIENTS} between two saves, the further clients of a
 * key are counted together.
 */
export function createKeyUses(db: Database, clock: Clock): KeyUses {
  let noted = new Map<string, Map<string, Counted>>();

  const add = (use: KeyClient): void => {
    let clients = noted.get(use.keyId);
    if (clients === undefined) noted.set(use.keyId, (clients = new Map()));
    const isKnown = clients.has(use.client) || clients.size < MAX_KEY_CLIENTS;
    const client = isKnown ? use.client : '';
    const before = clients.get(client);
    if (before === undefined) return void clients.set(client, { ...use, client });
    before.requests += use.requests;
    before.userAgent = use.userAgent ?? before.userAgent;
    before.lastSeenAt = Math.max(before.lastSeenAt, use.lastSeenAt);
    before.lastUsedAt = latest(before.lastUsedAt, use.lastUsedAt);
    before.lastRefusedAt = latest(before.lastRefusedAt, use.lastRefusedAt);
  };

  return {
    note: ({ id: keyId, kind }, { address, origin, userAgent, isAllowed }) => {
      const now = clock();
      add({
        keyId,
        // The clients of a public key are customers, whose addresses are not kept.
        client: kind === 'secret' ? address : originOf(origin),
        userAgent: kind === 'secret' ? (userAgent?.slice(0, MAX_USER_AGENT_LENGTH) ?? null) : null,
        requests: 1,
        firstSeenAt: now,
        lastSeenAt: now,
        lastUsedAt: isAllowed ? now : null,
        lastRefusedAt: isAllowed ? null : now,
      });
    },
    save: async () => {
      const saving = [...noted.values()].flatMap((clients) => [...clients.values()]);
      noted = new Map();
      try {
        await saveKeyClients(db, saving);
      } catch (error) {
        for (const use of saving) add(use);
        throw error;
      }
    },
  };
}

/** The text if it looks like an origin: anybody may send anything, and nothing else is worth keeping. */
function originOf(origin: string | undefined): string {
  return origin !== undefined && origin.length <= MAX_ORIGIN_LENGTH && /^https?:\/\/[^\s/]+$/.test(origin)
    ? origin
    : '';
}

function latest(one: number | null, other: number | null): number | null {
  return one === null ? other : other === null ? one : Math.max(one, other);
}
