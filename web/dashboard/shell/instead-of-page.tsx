import { Link } from '@tanstack/react-router';
import { useLocale } from '../locale.tsx';
import { buttonClass } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import type { IconName } from '../ui/icons.tsx';
import { Page } from './page.tsx';

interface InsteadOfPageProps {
  readonly icon: IconName;
  readonly title: string;
  readonly text: string;
}

/** What is said where there is no page to show, with the way to Home. */
export function InsteadOfPage({ icon, title, text }: InsteadOfPageProps) {
  const { t } = useLocale();
  return (
    <Page title={title} isHidden>
      <Empty icon={icon} title={title} text={text}>
        <Link className={buttonClass({ kind: 'primary' })} to="/">
          {t('to_home')}
        </Link>
      </Empty>
    </Page>
  );
}
