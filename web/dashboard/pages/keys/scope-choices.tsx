import type { KeyView } from '../../../../src/http/dashboard/contract/keys.ts';
import { useLocale } from '../../locale.tsx';
import css from '../../ui/choices.module.css';

export type Scope = NonNullable<KeyView['scopes']>[number];

const TEXTS = {
  'payments:create': 'key_scope_payments_create',
  'payments:read': 'key_scope_payments_read',
  'payments:change': 'key_scope_payments_change',
  refunds: 'key_scope_refunds',
  webhooks: 'key_scope_webhooks',
  events: 'key_scope_events',
} as const satisfies Readonly<Record<Scope, string>>;
const ALL = Object.keys(TEXTS) as readonly Scope[];

/** The scopes that a key of a kind can have. */
export function scopesFor(kind: KeyView['kind']): readonly Scope[] {
  return kind === 'secret' ? ALL : ['payments:create', 'payments:read'];
}

interface ScopeChoicesProps {
  readonly offered: readonly Scope[];
  readonly chosen: readonly Scope[];
  readonly onChosen: (scopes: readonly Scope[]) => void;
}

/** A checkbox for each scope that a key can have. */
export function ScopeChoices({ offered, chosen, onChosen }: ScopeChoicesProps) {
  const { t } = useLocale('keys');
  return (
    <fieldset className={css.choices}>
      <legend className={css.legend}>{t('key_permission_scopes')}</legend>
      {offered.map((scope) => (
        <label key={scope}>
          <input
            type="checkbox"
            checked={chosen.includes(scope)}
            onChange={({ currentTarget }) =>
              onChosen(offered.filter((one) => (one === scope ? currentTarget.checked : chosen.includes(one))))
            }
          />
          <span>
            <code>{scope}</code>
          </span>
          <small>{t(TEXTS[scope])}</small>
        </label>
      ))}
    </fieldset>
  );
}
