import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { AnswerOf, BodyOf } from '../../../../src/http/dashboard/contract.ts';
import { reads } from '../../api.ts';
import { useLocale } from '../../locale.tsx';
import { classNames } from '../../ui/class-names.ts';
import { Select } from '../../ui/field.tsx';
import type { Fields } from './setting-fields.tsx';
import css from './settings.module.css';
import { useScope } from '../../scope.ts';

type Scheme = 'light' | 'dark';

/** Each rule's original condition. */
const written = new WeakMap<CSSMediaRule, string>();
const CONDITION = /\(prefers-color-scheme:\s*(light|dark)\)/;

/** Shows a document in a scheme, independent of the device's: its conditions on the scheme become true or false. */
function showScheme(shown: Document, scheme: Scheme): void {
  shown.documentElement.style.colorScheme = scheme;
  for (const sheet of shown.styleSheets) {
    for (const rule of sheet.cssRules) {
      // A frame's rules are made by the frame's own constructors.
      if (rule.type !== CSSRule.MEDIA_RULE) continue;
      const media = rule as CSSMediaRule;
      const text = written.get(media) ?? media.media.mediaText;
      const wanted = CONDITION.exec(text)?.[1];
      if (wanted === undefined) continue;
      written.set(media, text);
      media.media.mediaText = wanted === scheme ? restOf(text) : 'not all';
    }
  }
}

/** `screen and (prefers-color-scheme: dark)` without the decided condition. */
function restOf(text: string): string {
  return text.replace(new RegExp(`\\s*(?:and\\s*)?${CONDITION.source}`), '').trim() || 'all';
}

const PREVIEW = 'POST /dashboard/api/projects/:project/settings/preview';
type Previewed = AnswerOf<typeof PREVIEW>;
/** Typing has paused for this long. */
const PAUSE_MS = 250;

/** The page with the typed values. If they are invalid, the last valid page and the error. */
export function usePreview(fields: Fields) {
  const {
    default_expiry_minutes: _expiry,
    default_currency: _currency,
    default_success_url: _success,
    ...page
  } = fields;
  const { code } = useLocale();
  const { project } = useScope();
  const given = JSON.stringify({ ...page, language: code });
  const [asked, ask] = useState(given);
  useEffect(() => {
    const timer = setTimeout(() => ask(given), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [given]);
  const query = useQuery({
    ...reads(['settings-preview'], PREVIEW, {
      params: { project },
      body: JSON.parse(asked) as BodyOf<typeof PREVIEW>,
    }),
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });
  const { data, error } = query;
  const [last, keep] = useState<Previewed | null>(null);
  if (data !== undefined && data !== last) keep(data);
  return { page: last, error };
}

interface PreviewProps {
  readonly page: Previewed | null;
  /** The shop's name, for the browser's tab. */
  readonly name: string;
}

/** A payment page in a frame that runs no script and whose links open nothing. */
export function Preview({ page, name }: PreviewProps) {
  const { t } = useLocale('settings');
  const [width, setWidth] = useState<'phone' | 'computer'>('phone');
  const [scheme, setScheme] = useState<Scheme>('light');
  const frame = useRef<HTMLIFrameElement>(null);
  const dress = useCallback(() => {
    const shown = frame.current?.contentDocument ?? null;
    if (shown !== null) showScheme(shown, scheme);
  }, [scheme]);
  useEffect(dress, [dress]);
  return (
    <div className={css.preview}>
      <h3>{t('settings_preview')}</h3>
      <p className={css.hint}>{t('settings_preview_text')}</p>
      <div className={css.buttons}>
        <Either of={['phone', 'computer']} name="width" value={width} onValue={setWidth} />
        <Either of={['light', 'dark']} name="scheme" value={scheme} onValue={setScheme} />
      </div>
      <div className={css.stage} role="group" tabIndex={0} aria-label={t('settings_preview')}>
        {page === null ? null : (
          <p className={css.tab}>
            <img src={page.icon} width={16} height={16} alt="" />
            {name}
          </p>
        )}
        <div className={classNames(css.box, css[width])}>
          {page === null ? null : (
            <iframe
              ref={frame}
              title={t('settings_preview')}
              // Without scripts, forms, popups and navigation; of our origin, so that its style sheets can be read.
              sandbox="allow-same-origin"
              srcDoc={page.html}
              onLoad={dress}
            />
          )}
        </div>
      </div>
    </div>
  );
}

interface EitherProps<Value extends string> {
  readonly of: readonly [Value, Value];
  readonly name: 'width' | 'scheme';
  readonly value: Value;
  readonly onValue: (value: Value) => void;
}

type Shown = 'phone' | 'computer' | Scheme;

function Either<Value extends Shown>({ of, name, value, onValue }: EitherProps<Value>) {
  const { t } = useLocale('settings');
  return (
    <Select
      label={t(`settings_preview_${name}`)}
      value={value}
      options={of.map((one: Shown) => [one, t(`settings_preview_${one}`)])}
      onValue={(text) => onValue(of[1] === text ? of[1] : of[0])}
    />
  );
}
