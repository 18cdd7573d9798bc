import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';
import { Icon, type IconName } from './icons.tsx';
import css from './notice.module.css';

const ICONS = { info: 'info', warning: 'warning', problem: 'warning', good: 'check-circle' } as const satisfies Record<
  string,
  IconName
>;

interface NoticeProps {
  readonly kind?: keyof typeof ICONS;
  readonly children: ReactNode;
}

/** A notice in a page. Problems are announced to screen readers at once. */
export function Notice({ kind = 'info', children }: NoticeProps) {
  return (
    <div
      className={classNames(css.notice, kind !== 'info' && css[kind])}
      role={kind === 'problem' ? 'alert' : undefined}
    >
      <Icon name={ICONS[kind]} />
      <div className={css.body}>{children}</div>
    </div>
  );
}
