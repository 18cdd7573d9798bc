import type { Clock } from '../../domain/clock.ts';
import type { Database } from '../../store/database.ts';
import { MAX_KEY_CLIENTS, saveKeyClients, type KeyClient } from '../../store/projects/key-clients.ts';
import type { AccessKey } from './access.ts';

/** One request with a key. */
interface KeyUse {
  readonly address: string;
  /** As the browser sent it; undefined outside of pages. */
  readonly origin: string | undefined;
  readonly userAgent: string | undefined;
  /** Whether the allow-list let it in. */
  readonly isAllowed: boolean;
}

/** Remembers which keys are used and from where, without a write for a request. */
export interface KeyUses {
  note(key: Pick<AccessKey, 'id' | 'kind'>, use: KeyUse): void;
  /** Saves what was noted since the last time. What cannot be saved is kept for the next time. */
  save(): Promise<void>;
}

type Counted = { -readonly [Field in keyof KeyClient]: KeyClient[Field] };

const MAX_ORIGIN_LENGTH = 200;
const MAX_USER_AGENT_LENGTH = 200;

/**
 * Memory is bounded by the number of keys: beyond {@link MAX_KEY_CLIENTS} between two saves, the clients of a key are
 * counted together.
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
        // The addresses of a public key's clients are those of customers.
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

/** Only what looks like an origin is worth keeping: anybody may send anything. */
function originOf(origin: string | undefined): string {
  return origin !== undefined && origin.length <= MAX_ORIGIN_LENGTH && /^https?:\/\/[^\s/]+$/.test(origin)
    ? origin
    : '';
}

function latest(one: number | null, other: number | null): number | null {
  return one === null ? other : other === null ? one : Math.max(one, other);
}
