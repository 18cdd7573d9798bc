import { useEffect, useState } from 'react';
import { fiatDecimals, formatDecimal, maxAmountMinor, isFiat, type Fiat } from '../../../src/domain/money.ts';
import type { AnswerOf } from '../../../src/http/dashboard/contract.ts';
import { useLocale } from '../locale.tsx';
import { problemText } from '../problem.ts';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';
import { coinKey, CoinName } from './coins.tsx';
import { recall, remember } from './memory.ts';
import { wakeSound } from './sound.ts';
import { TillIcon } from './till-icon.tsx';
import css from './till.module.css';
import type { useCharge } from './use-charge.ts';

export type TillSettings = AnswerOf<'GET /dashboard/api/projects/:project/:mode/till'>;

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '00', '0'] as const;

interface KeypadProps {
  readonly settings: TillSettings;
  readonly charge: ReturnType<typeof useCharge>;
}

/** The amount, by keys for fingers: digits fill it from the right, as on other tills. */
export function Keypad({ settings, charge }: KeypadProps) {
  const { t, fiat, percent } = useLocale('till');
  const [digits, setDigits] = useState('');
  const [tip, setTip] = useState(0);
  const [note, setNote] = useState('');
  const [currency, setCurrency] = useState<Fiat>(() => firstCurrency(settings));
  const [coin, setCoin] = useState(() => recall().coin ?? '');
  const chosen = settings.coins.find((one) => coinKey(one) === coin) ?? settings.coins[0];
  const decimals = fiatDecimals(currency);
  const minor = BigInt(digits === '' ? '0' : digits);
  // Half a cent is rounded up.
  const tipMinor = (minor * BigInt(tip) * 2n + 100n) / 200n;
  const text = (of: bigint): string => formatDecimal(of, decimals);
  const press = (key: string): void =>
    setDigits((before) => {
      const after = `${before}${key}`.replace(/^0+/, '');
      return BigInt(after === '' ? '0' : after) > maxAmountMinor(currency) ? before : after;
    });
  const erase = (): void => setDigits((before) => before.slice(0, -1));
  useKeyboard(press, erase);
  const send = (): void => {
    if (minor === 0n || charge.isPending) return;
    wakeSound();
    charge.charge({
      amount: text(minor),
      currency,
      ...(tipMinor > 0n && { tip: text(tipMinor) }),
      ...(note.trim() !== '' && { note: note.trim() }),
      ...(chosen !== undefined && { asset: chosen.asset, network: chosen.network }),
    });
  };
  return (
    <div className={css.keypad}>
      <div className={css.entry}>
        {settings.coins.length === 0 ? <Notice kind="warning">{t('till_no_coins')}</Notice> : null}
        {charge.fault === null ? null : <Notice kind="problem">{problemText(charge.fault, t)}</Notice>}
        <output className={css.amount} aria-label={t('till_amount')}>
          {fiat(text(minor + tipMinor), currency)}
          {tipMinor > 0n ? <small>{t('till_with_tip', { tip: fiat(text(tipMinor), currency) })}</small> : null}
        </output>
        {settings.tips.length === 0 ? null : (
          <div className={css.tips} role="group" aria-label={t('till_tip')}>
            {[0, ...settings.tips].map((one) => (
              <Button key={one} aria-pressed={tip === one} onClick={() => setTip(one)}>
                {one === 0 ? t('till_tip_none') : percent(one)}
              </Button>
            ))}
          </div>
        )}
        <div className={css.options}>
          <label>
            <span>{t('currency')}</span>
            <select
              value={currency}
              onChange={({ currentTarget: { value } }) => {
                if (!isFiat(value)) return;
                remember({ currency: value });
                setCurrency(value);
              }}
            >
              {settings.currencies.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
          <label>
            <span>{t('coin')}</span>
            <select
              value={chosen === undefined ? '' : coinKey(chosen)}
              disabled={chosen === undefined}
              onChange={({ currentTarget: { value } }) => {
                remember({ coin: value });
                setCoin(value);
              }}
            >
              {settings.coins.map((one) => (
                <option key={coinKey(one)} value={coinKey(one)}>
                  <CoinName coin={one} />
                </option>
              ))}
            </select>
          </label>
          <label className={css.note}>
            <span>{t('till_note')}</span>
            <input
              value={note}
              maxLength={200}
              autoComplete="off"
              title={t('till_note_hint')}
              onChange={({ currentTarget: { value } }) => setNote(value)}
            />
          </label>
        </div>
      </div>
      <div className={css.pad} role="group" aria-label={t('till_keys')}>
        {KEYS.map((key) => (
          <button key={key} type="button" onClick={() => press(key)}>
            {key}
          </button>
        ))}
        <button type="button" aria-label={t('till_delete')} onClick={erase}>
          <TillIcon name="backspace" size={26} />
        </button>
        <button
          type="button"
          className={css.charge}
          aria-disabled={minor === 0n || charge.isPending}
          aria-busy={charge.isPending}
          onClick={send}
        >
          {charge.isPending
            ? t('till_sending')
            : minor === 0n
              ? t('till_charge_none')
              : t('till_charge', { amount: fiat(text(minor + tipMinor), currency) })}
        </button>
      </div>
    </div>
  );
}

function firstCurrency({ currency, currencies }: TillSettings): Fiat {
  const last = recall().currency;
  return currencies.find((one) => one === last) ?? currency;
}

/** Digits and Backspace of a real keyboard, unless another control has the focus. */
function useKeyboard(press: (key: string) => void, erase: () => void): void {
  useEffect(() => {
    const take = ({ key, target, ctrlKey, metaKey, altKey }: KeyboardEvent): void => {
      const isElsewhere = target instanceof HTMLElement && target.closest('input, select, dialog') !== null;
      if (isElsewhere || ctrlKey || metaKey || altKey) return;
      if (/^\d$/.test(key)) press(key);
      else if (key === 'Backspace') erase();
    };
    addEventListener('keydown', take);
    return () => removeEventListener('keydown', take);
  });
}
