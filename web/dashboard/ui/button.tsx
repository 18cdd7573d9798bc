import type { ComponentProps } from 'react';
import css from './button.module.css';
import { classNames } from './class-names.ts';
import { Icon, type IconName } from './icons.tsx';

interface Look {
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly small?: boolean;
  readonly wide?: boolean;
}

export interface ButtonProps extends ComponentProps<'button'>, Look {
  /** What it began is not over: it shows so, keeps its name and place, and does nothing more. */
  readonly busy?: boolean;
  readonly icon?: IconName;
}

/** The classes of a button, for a link that looks like one. */
export function buttonClass({ kind = 'plain', small = false, wide = false }: Look = {}): string {
  return classNames(css.button, kind !== 'plain' && css[kind], small && css.small, wide && css.wide);
}

/** A button; its text is its name. It submits no form unless `type` says so. */
export function Button({ kind, small, wide, busy = false, icon, className, children, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-disabled={busy ? true : rest['aria-disabled']}
      // It stays focusable, so that the focus is not lost while it works.
      onClick={busy ? (event) => event.preventDefault() : onClick}
      className={classNames(
        buttonClass({ ...(kind && { kind }), ...(small && { small }), ...(wide && { wide }) }),
        busy && css.busy,
        className,
      )}
    >
      {icon === undefined ? null : <Icon name={icon} size={16} />}
      {children}
    </button>
  );
}

interface IconButtonProps extends ComponentProps<'button'> {
  readonly icon: IconName;
  /** Its name; shown when pointed at. */
  readonly label: string;
  readonly small?: boolean;
}

/** A button that shows a picture alone. */
export function IconButton({ icon, label, small = false, className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-label={label}
      title={label}
      className={classNames(css.button, css.quiet, css.icon, small && css.small, className)}
    >
      <Icon name={icon} size={small ? 15 : 18} />
    </button>
  );
}

/** A button that reads as a link among words. */
export function LinkButton({ className, ...rest }: ComponentProps<'button'>) {
  return <button type="button" {...rest} className={classNames(css.link, className)} />;
}
