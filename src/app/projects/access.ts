import { hash } from 'node:crypto';
import { parseKey } from '../../domain/api-key.ts';
import type { Clock } from '../../domain/clock.ts';
import type { KeyGrant, Mode } from '../../domain/permission.ts';
import { findProject, findPublished, type Project, type Published } from '../../store/projects/projects.ts';
import { findKeyByHash } from '../../store/projects/api-keys.ts';
import type { Database } from '../../store/database.ts';
import type { Notifications } from '../../store/notifications.ts';

/** The settings of a key's project that decide what a request may do. */
export interface ProjectAccess {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
  /** The allowed CIDRs; empty: every address is allowed. */
  readonly allowIps: readonly string[];
  readonly allowOrigins: readonly string[];
  /** The expiry of payments created without one; null: the service's default. */
  readonly defaultExpiryMinutes: number | null;
  readonly defaultSuccessUrl: string | null;
}

export interface AccessKey extends KeyGrant {
  readonly id: string;
  readonly mode: Mode;
  /** The time at which the key stops working because another replaced it; null: never. */
  readonly endsAt: number | null;
  readonly project: ProjectAccess;
}

export interface Access {
  /**
   * The key with this text; null if the key is unknown, mistyped, revoked or at its end. Synchronous when cached.
   * `admit` is called before the look-up of a key that this process has never found, because well-formed keys are easy
   * to make up; `admit` may throw.
   */
  find(keyText: string, admit?: () => Promise<void>): AccessKey | null | Promise<AccessKey | null>;
  /** A project by id, as its customers see it; null if there is none. Synchronous when cached. */
  project(id: string): Project | null | Promise<Project | null>;
  /** Whether any active project allows this origin (for preflights, which carry no key). */
  anyProjectAllows(origin: string): boolean | Promise<boolean>;
  /** Whether any project has the logo with this hash. */
  hasLogo(hash: string): boolean | Promise<boolean>;
}

/** Bounds memory: if more keys are in use at once, they are looked up again. */
const MAX_CACHED_KEYS = 10_000;
const MAX_CACHED_PROJECTS = 1_000;

/**
 * Looks keys up and caches them until a notification says that a key or project changed. While notifications are down
 * nothing is cached, so that a revoked key stops working on every process within a second.
 */
export function createAccess(db: Database, notifications: Notifications, clock: Clock): Access {
  const answers = keepUntilNotified(notifications);
  const keys = new Map<string, AccessKey | null>();
  /** Keys that were found before: looking them up again cannot be a guess. */
  const foundKeys = new Set<string>();
  const projects = new Map<string, Project | null>();
  const ask = createPublishedQuestions(db, answers, notifications);
  answers.onChange(() => {
    keys.clear();
    projects.clear();
  });

  function readThrough<Value>(cache: Map<string, Value>, limit: number, key: string, read: () => Promise<Value>) {
    return answers.read(read, (value) => {
      if (value === null) return;
      if (cache.size >= limit) cache.clear();
      cache.set(key, value);
    });
  }

  async function findKey(name: string, admit?: () => Promise<void>): Promise<AccessKey | null> {
    if (admit !== undefined && !foundKeys.has(name)) await admit();
    const key = await readThrough<AccessKey | null>(keys, MAX_CACHED_KEYS, name, () =>
      findKeyByHash(db, Buffer.from(name, 'base64')),
    );
    if (key !== null) {
      if (foundKeys.size >= MAX_CACHED_KEYS) foundKeys.clear();
      foundKeys.add(name);
    }
    return key;
  }

  const ifLasting = (key: AccessKey | null): AccessKey | null =>
    key !== null && key.endsAt !== null && clock() >= key.endsAt ? null : key;

  return {
    find(keyText, admit) {
      const name = hash('sha256', keyText, 'base64');
      const cached = notifications.healthy() ? keys.get(name) : undefined;
      if (cached !== undefined) return ifLasting(cached);
      if (parseKey(keyText) === null) return null;
      return findKey(name, admit).then(ifLasting);
    },
    project(id) {
      const cached = notifications.healthy() ? projects.get(id) : undefined;
      if (cached !== undefined) return cached;
      return readThrough<Project | null>(projects, MAX_CACHED_PROJECTS, id, () => findProject(db, id));
    },
    anyProjectAllows: (origin) => ask(({ origins }) => origins.has(origin)),
    hasLogo: (hash) => ask(({ logos }) => logos.has(hash)),
  };
}

/** Answers questions about published data of projects, from one read of all of them. */
function createPublishedQuestions(
  db: Database,
  answers: ReturnType<typeof keepUntilNotified>,
  notifications: Notifications,
): (question: (known: Published) => boolean) => boolean | Promise<boolean> {
  let published: Published | null = null;
  let reading: Promise<Published> | null = null;
  answers.onChange(() => {
    published = null;
    reading = null;
  });

  /**
   * Loads all published projects at once: guesses are cheap for an attacker and would fill a cache of single answers.
   */
  function readPublished(): Published | Promise<Published> {
    if (published !== null && notifications.healthy()) return published;
    // Simultaneous questions share the read.
    reading ??= readOnce();
    return reading;
  }

  function readOnce(): Promise<Published> {
    const started = answers
      .read(
        () => findPublished(db),
        (read) => (published = read),
      )
      .finally(() => {
        if (reading === started) reading = null;
      });
    return started;
  }

  return (question) => {
    const known = readPublished();
    return known instanceof Promise ? known.then(question) : question(known);
  };
}

/**
 * Reads that are cached until a notification says that a key or project changed. `keep` gets a result only if
 * notifications were up during the whole read and none arrived.
 */
function keepUntilNotified(notifications: Notifications) {
  let generation = 0;
  return {
    onChange: (forget: () => void): void => {
      const change = (): void => {
        generation += 1;
        forget();
      };
      notifications.on('access', change);
      notifications.onDown(change);
    },
    read: async <Value>(read: () => Promise<Value>, keep: (value: Value) => void): Promise<Value> => {
      const before = generation;
      const wasHealthy = notifications.healthy();
      const value = await read();
      if (wasHealthy && generation === before && notifications.healthy()) keep(value);
      return value;
    },
  };
}
