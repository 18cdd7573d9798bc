import { useRef } from 'react';
import type { SettingsView } from '../../../../src/http/dashboard/contract/settings.ts';
import { useLocale } from '../../locale.tsx';
import { Button } from '../../ui/button.tsx';
import { Below, Field } from '../../ui/field.tsx';
import type { Fields } from './settings-form.tsx';
import css from './settings.module.css';

interface BrandingProps {
  readonly fields: Fields;
  readonly settings: SettingsView;
  readonly onChange: (change: Partial<Fields>) => void;
  readonly problemAt: (field: string) => string | null;
}

const HEX = /^#?([0-9a-f]{6})$/i;
/** What the picker shows where there is no colour: the pages' own. */
const USUAL_ACCENT = '0b6b5b';

/** What customers see of a shop. */
export function BrandingFields(props: BrandingProps) {
  const { t } = useLocale('settings');
  const { fields, onChange, problemAt } = props;
  return (
    <>
      <Field
        label={t('settings_name')}
        value={fields.name}
        max={100}
        required
        autoComplete="off"
        hint={t('settings_name_hint')}
        problem={problemAt('name')}
        onValue={(name) => onChange({ name })}
      />
      <LogoField {...props} />
      <div className={css.accent}>
        <Field
          label={t('settings_accent')}
          value={fields.accent}
          max={20}
          autoComplete="off"
          spellCheck={false}
          hint={t('settings_accent_hint')}
          problem={problemAt('accent')}
          onValue={(accent) => onChange({ accent })}
        />
        <input
          type="color"
          aria-label={t('settings_accent_pick')}
          value={`#${(HEX.exec(fields.accent.trim())?.[1] ?? USUAL_ACCENT).toLowerCase()}`}
          onChange={(event) => onChange({ accent: event.currentTarget.value })}
        />
      </div>
      <Field
        label={t('settings_support')}
        value={fields.support_url}
        max={2_048}
        autoComplete="off"
        spellCheck={false}
        hint={t('settings_support_hint')}
        problem={problemAt('support_url')}
        onValue={(support_url) => onChange({ support_url })}
      />
    </>
  );
}

/** The server takes this much, and refuses one byte more. */
const MAX_LOGO_BYTES = 65_536;
const ID = 'settings-logo';

function LogoField({ fields, settings, onChange, problemAt }: BrandingProps) {
  const { t } = useLocale('settings');
  const input = useRef<HTMLInputElement>(null);
  const { logo } = fields;
  const isThere = logo === undefined ? settings.logo !== null : logo !== null;
  const state =
    typeof logo === 'string' ? 'settings_logo_new' : isThere ? 'settings_logo_now' : ('settings_logo_none' as const);
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    onChange({ logo: base64(await file.slice(0, MAX_LOGO_BYTES + 1).arrayBuffer()) });
    // The same file can be chosen again.
    if (input.current !== null) input.current.value = '';
  };
  return (
    <div className={css.logo}>
      <span className={css.label} id={ID}>
        {t('settings_logo')}
      </span>
      <p>{t(state)}</p>
      <div className={css.buttons}>
        <input
          ref={input}
          type="file"
          hidden
          accept="image/png,image/jpeg,image/webp"
          onChange={(event) => void take(event.currentTarget.files?.[0])}
        />
        <Button small aria-describedby={`${ID}-hint`} onClick={() => input.current?.click()}>
          {t('settings_logo_choose')}
        </Button>
        {isThere ? (
          <Button small onClick={() => onChange({ logo: null })}>
            {t('settings_logo_remove')}
          </Button>
        ) : null}
      </div>
      <Below id={ID} hint={t('settings_logo_hint')} problem={problemAt('logo')} />
    </div>
  );
}

function base64(buffer: ArrayBuffer): string {
  return btoa(Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join(''));
}
