import type { SweepView } from '../../../../src/http/dashboard/sweeps/contract.ts';
import { useLocale } from '../../locale.tsx';
import { classNames } from '../../ui/class-names.ts';
import css from '../../ui/status.module.css';

const CLASSES = {
  asked: 'open',
  sent: 'waiting',
  seen: 'waiting',
  mined: 'good',
  failed: 'bad',
  ended: 'over',
} as const;

export function SweepState({ state }: Pick<SweepView, 'state'>) {
  const { t } = useLocale('sweeps');
  return <span className={classNames(css.status, css[CLASSES[state]])}>{t(`sweep_state_${state}`)}</span>;
}
