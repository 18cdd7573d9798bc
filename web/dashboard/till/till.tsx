import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useState, type ReactNode } from 'react';
import { sessionQuery, useDashboard, useStore } from '../dashboard.ts';
import { chosenLanguage, useLocale } from '../locale.tsx';
import type { Scope } from '../scope.ts';
import { useSignedIn } from '../session.ts';
import { useSignOut } from '../shell/account-button.tsx';
import { loadTexts } from '../texts/load-texts.ts';
import { Button, buttonClass } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { NotLoaded } from '../ui/placeholder.tsx';
import { Keypad } from './keypad.tsx';
import { firstScope, recall, remember, saleInAddress, showInAddress, tillProjects } from './memory.ts';
import { tillQuery, useTillLive } from './queries.ts';
import { Sale } from './sale.tsx';
import { Today } from './today.tsx';
import { TillIcon } from './till-icon.tsx';
import css from './till.module.css';
import { useCharge } from './use-charge.ts';

const SignedOutDialog = lazy(async () => {
  const [module] = await Promise.all([import('../shell/questions.tsx'), loadTexts(chosenLanguage(), 'access')]);
  return { default: module.SignedOutDialog };
});

/** The till's page, once the session is known. */
export function Till() {
  const { isSignedOut } = useDashboard();
  const signedOut = useStore(isSignedOut);
  const session = useQuery({
    ...sessionQuery,
    refetchInterval: ({ state }) => (state.data === undefined ? 3_000 : false),
  });
  return (
    <>
      {session.data?.state === 'signed_in' ? <Shops /> : <Unloaded query={session} />}
      <Suspense>{signedOut ? <SignedOutDialog /> : null}</Suspense>
    </>
  );
}

function Unloaded({ query }: { readonly query: Parameters<typeof NotLoaded>[0]['query'] }) {
  return (
    <main className={css.alone}>
      <NotLoaded query={query} rows={4} />
    </main>
  );
}

/** The till of the chosen project and mode. */
function Shops() {
  const session = useSignedIn();
  const [scope, setScope] = useState(() => firstScope(session, new URLSearchParams(location.search)));
  const isKnown = scope !== null && tillProjects(session).some(({ id }) => id === scope.project);
  if (!isKnown) return <NoAccess />;
  const choose = (next: Scope): void => {
    showInAddress(next, null);
    remember({ scope: next });
    setScope(next);
  };
  return <Shop key={`${scope.project} ${scope.mode}`} scope={scope} onScope={choose} />;
}

function NoAccess() {
  const { t } = useLocale('till');
  return (
    <main className={css.alone}>
      <h1>{t('till_no_access')}</h1>
      <p>{t('till_no_access_text')}</p>
      <Links />
    </main>
  );
}

interface ShopProps {
  readonly scope: Scope;
  readonly onScope: (scope: Scope) => void;
}

function Shop({ scope, onScope }: ShopProps) {
  const { t } = useLocale('till');
  const settings = useQuery(tillQuery(scope));
  const [sale, setSale] = useState(saleInAddress);
  const [isToday, setToday] = useState(false);
  const { connection, queries } = useDashboard();
  const isLost = useStore(connection) === 'lost';
  const show = (id: string | null): void => {
    setSale(id);
    setToday(false);
    // A till may stay open for weeks, while its settings change.
    void queries.invalidateQueries({ queryKey: tillQuery(scope).queryKey });
  };
  const charge = useCharge(scope, ({ id }) => show(id));
  useTillLive(scope);
  useEffect(() => showInAddress(scope, sale), [scope, sale]);
  useEffect(() => remember({ scope }), [scope]);
  return (
    <div className={css.till} data-mode={scope.mode}>
      <Head scope={scope} onScope={onScope} isToday={isToday} onToday={() => setToday(!isToday)} />
      {scope.mode === 'test' ? (
        <aside className={css.band} aria-label={t('test_mode')}>
          <strong>{t('test_mode')}</strong> {t('test_band')}
        </aside>
      ) : null}
      <div role="status">
        {charge.hasNoAnswer || isLost ? (
          <Band>
            <p>{t(charge.isPending ? 'till_no_answer' : 'till_lost')}</p>
            {charge.isPending ? (
              <Button small onClick={charge.giveUp}>
                {t('till_give_up')}
              </Button>
            ) : null}
          </Band>
        ) : null}
      </div>
      <main className={css.main}>
        {settings.data === undefined ? (
          <NotLoaded query={settings} rows={6} />
        ) : isToday ? (
          <Today scope={scope} onSale={show}>
            <Links />
          </Today>
        ) : sale === null ? (
          <Keypad settings={settings.data} charge={charge} />
        ) : (
          <Sale key={sale} scope={scope} id={sale} settings={settings.data} onEnd={() => show(null)} />
        )}
      </main>
    </div>
  );
}

function Band({ children }: { readonly children: ReactNode }) {
  return (
    <div className={css.offline}>
      <Icon name="offline" size={16} />
      {children}
    </div>
  );
}

interface HeadProps extends ShopProps {
  readonly isToday: boolean;
  readonly onToday: () => void;
}

/** The project and mode, the sound, and the way to today's list. */
function Head({ scope, onScope, isToday, onToday }: HeadProps) {
  const { t } = useLocale('till');
  const projects = tillProjects(useSignedIn());
  const [isMuted, setMuted] = useState(() => recall().isMuted === true);
  const shops = projects.flatMap(({ id, name }) => [
    { project: id, mode: 'live' as const, text: name },
    { project: id, mode: 'test' as const, text: t('till_shop_test', { name }) },
  ]);
  const mute = (): void => {
    remember({ isMuted: !isMuted });
    setMuted(!isMuted);
  };
  return (
    <header className={css.head}>
      <h1 className="unseen">{t('till')}</h1>
      <select
        className={css.shop}
        aria-label={t('till_shop')}
        value={`${scope.project} ${scope.mode}`}
        onChange={({ currentTarget: { value } }) => {
          const next = shops.find(({ project, mode }) => `${project} ${mode}` === value);
          if (next !== undefined) onScope({ project: next.project, mode: next.mode });
        }}
      >
        {shops.map(({ project, mode, text }) => (
          <option key={`${project} ${mode}`} value={`${project} ${mode}`}>
            {text}
          </option>
        ))}
      </select>
      <Button
        kind="quiet"
        className={css.sound}
        aria-label={t(isMuted ? 'till_unmute' : 'till_mute')}
        title={t(isMuted ? 'till_unmute' : 'till_mute')}
        onClick={mute}
      >
        <TillIcon name={isMuted ? 'mute' : 'sound'} size={22} />
      </Button>
      <Button className={css.tab} aria-pressed={isToday} onClick={onToday}>
        {t('till_today')}
      </Button>
    </header>
  );
}

/** The ways out of the till. */
function Links() {
  const { t } = useLocale('till');
  const { data: session } = useSuspenseQuery(sessionQuery);
  const signOut = useSignOut();
  const mayRead =
    session.state === 'signed_in' && session.projects.some(({ actions }) => actions.includes('read_payments'));
  return (
    <nav className={css.links} aria-label={t('pages')}>
      {mayRead ? (
        <a className={buttonClass()} href="/dashboard">
          {t('till_dashboard')}
        </a>
      ) : null}
      <a className={buttonClass()} href="/dashboard/account">
        {t('account_settings')}
      </a>
      <Button icon="sign-out" onClick={() => void signOut()}>
        {t('sign_out')}
      </Button>
    </nav>
  );
}
