import type { ReactNode } from 'react';
import { useTitle } from '../../shell/use-title.ts';
import { Icon } from '../../ui/icons.tsx';
import css from './access.module.css';

interface AccessFrameProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly children?: ReactNode;
}

/** The frame of pages for people who are not signed in. */
export function AccessFrame({ title, lead, children }: AccessFrameProps) {
  useTitle(title);
  return (
    <div className={css.frame}>
      <header className={css.brand}>
        <Icon name="check-circle" size={22} />
        Cointill
      </header>
      <main className={css.main}>
        <div className={css.card}>
          <div>
            <h1>{title}</h1>
            {lead === undefined ? null : <div className={css.lead}>{lead}</div>}
          </div>
          {children}
        </div>
      </main>
    </div>
  );
}
