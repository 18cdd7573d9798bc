import { expect, it } from 'vitest';
import { ACTIONS, keyRefusalOf, ROLES, type Action, type Role } from '../domain/role.ts';
import { pageSentence, roleError } from './page-sentences.ts';

it.each<[Role | null, Action, string, string]>([
  [
    'viewer',
    'manage_wallets',
    'With the role viewer, you may not change wallets. You need the role owner or admin. An owner can change your role.',
    'Mit der Rolle „Nur lesen“ dürfen Sie das nicht: Wallets ändern. Dafür brauchen Sie die Rolle „Inhaber“ oder „Admin“. Ein Inhaber kann Ihre Rolle ändern.',
  ],
  [
    'support',
    'read_developer',
    'With the role support, you may not see keys, webhooks, events or requests. You need the role owner, admin or developer. An owner can change your role.',
    'Mit der Rolle „Support“ dürfen Sie das nicht: Schlüssel, Webhooks, Ereignisse oder Anfragen sehen. Dafür brauchen Sie die Rolle „Inhaber“, „Admin“ oder „Entwicklung“. Ein Inhaber kann Ihre Rolle ändern.',
  ],
  [
    null,
    'create_projects',
    'Without a role that covers all projects, you may not create projects. You need the role owner in all projects. An owner can change your role.',
    'Ohne eine Rolle, die für alle Projekte gilt, dürfen Sie das nicht: Projekte anlegen. Dafür brauchen Sie die Rolle „Inhaber“ in allen Projekten. Ein Inhaber kann Ihre Rolle ändern.',
  ],
])('the role %s is refused %s with what it takes, in the language of the reader', (role, action, english, german) => {
  const refusal = roleError(role, action);
  expect([refusal.type, refusal.message]).toEqual(['permission_error', english]);
  expect(refusal.messageIn('de')).toBe(german);
});

it.each(ROLES.flatMap((role) => ACTIONS.map((action) => [role, action] as const)))(
  'a refusal of %s to do %s has every word in each language',
  (role, action) => {
    const refusal = roleError(role, action);
    for (const language of ['en', 'de'] as const) expect(refusal.messageIn(language)).not.toMatch(/[{}_]|undefined/);
  },
);

it('a key that could do more than its maker is refused with what it could do', () => {
  const refusal = pageSentence('beyond_role', '', keyRefusalOf('developer', 'create_refunds'));
  expect(refusal('en')).toBe(
    'With the role developer, you may not create this live key, because anyone who has the key could create refunds to any address. Give the key fewer permissions, or ask somebody with the role owner or admin.',
  );
  expect(refusal('de')).toBe(
    'Mit der Rolle „Entwicklung“ können Sie diesen Live-Schlüssel nicht anlegen, denn wer ihn hat, könnte damit mehr als Sie: Erstattungen an beliebige Adressen anlegen. Geben Sie dem Schlüssel weniger Rechte, oder bitten Sie jemanden mit der Rolle „Inhaber“ oder „Admin“.',
  );
});
