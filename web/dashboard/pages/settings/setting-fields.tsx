import { useRef } from 'react';
import type { SettingsView } from '../../../../src/http/dashboard/settings/contract.ts';
import { useLocale } from '../../locale.tsx';
import { Button } from '../../ui/button.tsx';
import { Below, Field } from '../../ui/field.tsx';
import css from './settings.module.css';

interface BrandingProps extends FormPart {
  readonly settings: SettingsView;
}

const HEX = /^#?([0-9a-f]{6})$/i;
/** The picker's colour if none is chosen: the pages' default. */
const USUAL_ACCENT = '0b6b5b';

/** The fields of a shop's looks for customers. */
export function BrandingFields(props: BrandingProps) {
  const { t } = useLocale('settings');
  const { fields, onChange } = props;
  return (
    <>
      <SettingField of={props} field="name" texts={[t('settings_name'), t('settings_name_hint')]} max={100} required />
      <PictureField {...props} name="logo" />
      <PictureField {...props} name="icon" />
      <div className={css.accent}>
        <SettingField of={props} field="accent" texts={[t('settings_accent'), t('settings_accent_hint')]} max={20} />
        <input
          type="color"
          aria-label={t('settings_accent_pick')}
          value={`#${(HEX.exec(fields.accent.trim())?.[1] ?? USUAL_ACCENT).toLowerCase()}`}
          onChange={(event) => onChange({ accent: event.currentTarget.value })}
        />
      </div>
      <SettingField
        of={props}
        field="support_url"
        texts={[t('settings_support'), t('settings_support_hint')]}
        max={2_048}
      />
      <SettingField of={props} field="page_text" texts={[t('settings_text'), t('settings_text_hint')]} max={200} />
      {(['terms', 'imprint'] as const).map((name) => (
        <SettingField
          key={name}
          of={props}
          field={`${name}_url`}
          texts={[t(`settings_${name}`), t('settings_https_hint', { example: `https://shop.example/${name}` })]}
          max={2_048}
        />
      ))}
    </>
  );
}

/** The server's limit in bytes. */
const MAX_LOGO_BYTES = 65_536;

interface PictureProps extends BrandingProps {
  readonly name: 'logo' | 'icon';
}

function PictureField({ fields, settings, onChange, problemAt, name }: PictureProps) {
  const { t } = useLocale('settings');
  const input = useRef<HTMLInputElement>(null);
  const id = `settings-${name}`;
  const picture = fields[name];
  const isThere = picture === undefined ? settings[name] !== null : picture !== null;
  const state = typeof picture === 'string' ? 'new' : isThere ? 'now' : 'none';
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    onChange({ [name]: base64(await file.slice(0, MAX_LOGO_BYTES + 1).arrayBuffer()) });
    // The same file can be chosen again.
    if (input.current !== null) input.current.value = '';
  };
  return (
    <div className={css.logo}>
      <span className={css.label} id={id}>
        {t(`settings_${name}`)}
      </span>
      <p>{t(`settings_${name}_${state}`)}</p>
      <div className={css.buttons}>
        <input
          ref={input}
          type="file"
          hidden
          accept="image/png,image/jpeg,image/webp"
          onChange={(event) => void take(event.currentTarget.files?.[0])}
        />
        <Button small aria-describedby={`${id}-hint`} onClick={() => input.current?.click()}>
          {t(`settings_${name}_choose`)}
        </Button>
        {isThere ? (
          <Button small onClick={() => onChange({ [name]: null })}>
            {t(`settings_${name}_remove`)}
          </Button>
        ) : null}
      </div>
      <Below id={id} hint={t(`settings_${name}_hint`)} problem={problemAt(name)} />
    </div>
  );
}

function base64(buffer: ArrayBuffer): string {
  return btoa(Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join(''));
}

/** The typed fields. `logo` and `icon`: a new file in base64; null: none; undefined: unchanged. */
export interface Fields {
  readonly name: string;
  readonly accent: string;
  readonly support_url: string;
  readonly page_text: string;
  readonly terms_url: string;
  readonly imprint_url: string;
  readonly logo?: string | null;
  readonly icon?: string | null;
  readonly default_expiry_minutes: string;
  readonly default_currency: string;
  readonly default_success_url: string;
}

/** The form that a field is part of. */
export interface FormPart {
  readonly fields: Fields;
  readonly onChange: (change: Partial<Fields>) => void;
  /** The error of a field, as a sentence. */
  readonly problemAt: (field: string) => string | null;
}

interface SettingFieldProps {
  readonly of: FormPart;
  readonly field: Exclude<keyof Fields, 'logo' | 'icon'>;
  /** Its label and the hint below it. */
  readonly texts: readonly [label: string, hint: string];
  readonly max: number;
  readonly required?: boolean;
  readonly inputMode?: 'numeric';
}

/** One setting that is typed. */
export function SettingField({ of, field, texts: [label, hint], ...rest }: SettingFieldProps) {
  return (
    <Field
      {...rest}
      label={label}
      hint={hint}
      value={of.fields[field]}
      autoComplete="off"
      spellCheck={false}
      problem={of.problemAt(field)}
      onValue={(text) => of.onChange({ [field]: text })}
    />
  );
}
