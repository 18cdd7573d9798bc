import type { Access } from '../../app/projects/access.ts';
import type { Fiat } from '../../domain/money.ts';
import type { Mode, Operation } from '../../domain/permission.ts';
import type { WebhookPolicy } from '../../webhooks/guard.ts';
import type { Api } from '../api.ts';

/** The parts that Greenfield needs beside those of the other APIs. */
export interface Greenfield extends Api {
  readonly access: Access;
  /** Where webhooks of a mode may go. */
  readonly policyOf: (mode: Mode) => WebhookPolicy;
}

export const hidden = { schema: { hide: true } } as const;

/** The guard of a call: of an operation, or for every secret key of the project. */
export function greenfieldGuard(operation: Operation | null) {
  return { ...hidden, config: { guard: { kind: 'api', api: 'greenfield', operation } as const } };
}

/** The currency that a project counts in. */
export async function currencyOf(access: Access, projectId: string): Promise<Fiat> {
  return (await access.project(projectId))?.defaultCurrency ?? 'USD';
}
