import type { FastifyInstance } from 'fastify';
import { exportProject } from '../../../app/dashboard/exports.ts';
import { setActive, stopsOf, type Stops } from '../../../app/projects/activation.ts';
import {
  CUSTOMER_LANGUAGES,
  customerMailChoices,
  saveCustomerMailChoices,
  type CustomerMailChoices,
} from '../../../app/projects/customer-mails.ts';
import {
  previewCustomerData,
  removeCustomerData,
  type CustomerDataCounts,
} from '../../../app/projects/customer-data.ts';
import {
  previewSettings,
  saveSettings,
  settingsVersion,
  type SettingsRequest,
} from '../../../app/projects/settings.ts';
import { parseUuid } from '../../../domain/id.ts';
import type { Mode } from '../../../domain/permission.ts';
import { findLogoDraft, findProject, type PictureName, type Project } from '../../../store/projects/projects.ts';
import { invalid, notFound } from '../../errors.ts';
import { CONTRACT, type BodyOf } from '../contract.ts';
import { done } from '../refusal-words.ts';
import type { Dashboard, Routes } from '../route.ts';
import { scopeIn } from '../scope.ts';
import type { CustomerDataView, CustomerMailsView, SettingsView } from './contract.ts';
import { FIATS } from '../../../domain/money.ts';
import { datevRoutes } from './datev.ts';
import { tillSettingsRoutes } from './till.ts';

const SETTINGS = '/dashboard/api/projects/:project/settings';
const MANAGE = { action: 'manage_settings' } as const;
const DEACTIVATE = { action: 'deactivate_project' } as const;
const DELETE = { action: 'delete_customer_data' } as const;
/** The size of the largest logo and icon in base64, plus the rest of the body. */
const MAX_BODY_BYTES = 262_144;
const WITH_PICTURES = { ...MANAGE, bodyLimit: MAX_BODY_BYTES } as const;

/** The page of settings. */
export function settingsRoutes(routes: Routes, dashboard: Dashboard): void {
  const { app: core } = dashboard.people;
  const viewOf = (project: Project): SettingsView => settingsView(project, dashboard.checkout.logoPath);
  routes.add(`GET ${SETTINGS}`, MANAGE, async ({ scope }) => {
    const project = await findProject(core.db, scope.projectId);
    if (project === null) throw notFound('There is no such project.');
    return viewOf(project);
  });
  routes.add(`POST ${SETTINGS}`, WITH_PICTURES, async ({ scope: { projectId }, body, own }) => {
    const values = { ...brandingOf(body), ...defaultsOf(body) };
    return viewOf(done(await saveSettings(own, projectId, body.version, values)).project);
  });
  routes.add(`POST ${SETTINGS}/preview`, WITH_PICTURES, async ({ scope: { projectId }, body }) => {
    const { project, changes } = done(await previewSettings(core, projectId, brandingOf(body)));
    const { name = project.name, accent = null, supportUrl = null } = changes;
    const { pageText = null, termsUrl = null, imprintUrl = null } = changes;
    const draftPath = (hash: string): string => `${SETTINGS.replace(':project', projectId)}/logo/${hash}`;
    const picture = (of: PictureName) => {
      const sent = changes[of];
      return sent === undefined ? pictureView(project[of], dashboard.checkout.logoPath) : pictureView(sent, draftPath);
    };
    const words = { pageText, termsUrl, imprintUrl };
    const currency = project.defaultCurrency ?? ('USD' as const);
    const shown = { name, accent, supportUrl, ...words, currency, logo: picture('logo'), icon: picture('icon') };
    return dashboard.checkout.preview(shown, body.language);
  });
  draftRoute(routes.app, dashboard);
  activationRoutes(routes, dashboard, viewOf);
  routes.file(`POST ${SETTINGS}/export`, 'export_project', async ({ scope, own }) => {
    const open = () => exportProject(own, dashboard.exports.connect, scope.projectId);
    return { name: 'project', format: 'jsonl', open };
  });
  customerRoutes(routes, dashboard);
  customerMailRoutes(routes, dashboard);
  datevRoutes(routes, dashboard);
  tillSettingsRoutes(routes, dashboard);
}

function customerMailRoutes(routes: Routes, dashboard: Dashboard): void {
  const { app: core } = dashboard.people;
  const viewOf = ({ isOn, fromAddress, replyTo, language }: CustomerMailChoices): CustomerMailsView => ({
    is_on: isOn,
    from_address: fromAddress ?? '',
    reply_to: replyTo ?? '',
    language,
    languages: [...CUSTOMER_LANGUAGES],
    sends_mail: core.sendsMail === true,
  });
  routes.add(`GET ${SETTINGS}/customer-mails`, MANAGE, async ({ scope: { projectId } }) =>
    viewOf(await customerMailChoices(core.db, projectId)),
  );
  routes.add(`POST ${SETTINGS}/customer-mails`, MANAGE, async ({ scope: { projectId }, body, own }) => {
    const given = {
      isOn: body.is_on,
      fromAddress: textOrNull(body.from_address),
      replyTo: textOrNull(body.reply_to),
      language: body.language,
    };
    return viewOf(done(await saveCustomerMailChoices(own, projectId, given)).choices);
  });
}

/** When opened directly, the picture is a document of this service's origin, and must not do anything there. */
const PICTURE_HEADERS = {
  'cache-control': 'private, max-age=3600',
  'content-security-policy': "default-src 'none'; sandbox",
  'content-disposition': 'inline',
  'x-content-type-options': 'nosniff',
} as const;

function draftRoute(app: FastifyInstance, dashboard: Dashboard): void {
  const url = `${SETTINGS}/logo/:hash` as const;
  const schema = { hide: true, params: CONTRACT[`GET ${url}`].params };
  const config = { guard: { kind: 'session', action: 'manage_settings' } } as const;
  app.get<{ Params: { project: string; hash: string } }>(url, { config, schema }, async (request, reply) => {
    const { projectId } = scopeIn(request, request.params);
    const logo = await findLogoDraft(dashboard.people.app.db, projectId, request.params.hash);
    if (logo === null) throw notFound('This picture no longer exists. Choose the file again.');
    return reply.headers(PICTURE_HEADERS).header('content-type', logo.type).send(logo.bytes);
  });
}

function activationRoutes(routes: Routes, dashboard: Dashboard, viewOf: (project: Project) => SettingsView): void {
  const { app: core } = dashboard.people;
  routes.add(`GET ${SETTINGS}/stops`, MANAGE, async ({ scope }) => {
    const stops = await stopsOf(core, scope.projectId);
    return { test: stopsView(stops, 'test'), live: stopsView(stops, 'live') };
  });
  routes.add(`POST ${SETTINGS}/deactivate`, DEACTIVATE, async ({ scope: { projectId }, body, own }) => {
    return viewOf(done(await setActive(own, projectId, false, body.name)).project);
  });
  routes.add(`POST ${SETTINGS}/activate`, DEACTIVATE, async ({ scope: { projectId }, own }) => {
    return viewOf(done(await setActive(own, projectId, true)).project);
  });
}

function customerRoutes(routes: Routes, dashboard: Dashboard): void {
  const { app: core } = dashboard.people;
  routes.add(`POST ${SETTINGS}/customer-data/count`, DELETE, async ({ scope: { projectId }, body }) => {
    const wanted = { email: body.email, days: body.older_than_days };
    const { counts, hasMore, open } = done(await previewCustomerData(core, projectId, wanted), 'older_than_days');
    return { counts: countsView(counts), has_more: hasMore, open };
  });
  routes.add(`POST ${SETTINGS}/customer-data/delete`, DELETE, async ({ scope: { projectId }, body, own }) => {
    const after = body.after === null ? null : parseUuid(body.after);
    if (body.after !== null && after === null) {
      throw invalid('after', 'after must be the value of next from the previous call.');
    }
    const wanted = { email: body.email, days: body.older_than_days };
    const removed = await removeCustomerData(own, projectId, wanted, after);
    const { counts, next } = done(removed, 'older_than_days');
    return { counts: countsView(counts), next };
  });
}

const textOrNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());

/** An e-mail address becomes a mailto link. */
function linkOrNull(text: string): string | null {
  const given = textOrNull(text);
  return given !== null && /^[^\s@:/?#]+@[^\s@:/?#]+$/.test(given) ? `mailto:${given}` : given;
}

type Branding = Omit<BodyOf<`POST ${typeof SETTINGS}/preview`>, 'language'>;

function brandingOf(body: Branding): SettingsRequest {
  const { logo, icon } = body;
  return {
    name: body.name,
    accent: textOrNull(body.accent),
    supportUrl: linkOrNull(body.support_url),
    pageText: textOrNull(body.page_text),
    termsUrl: textOrNull(body.terms_url),
    imprintUrl: textOrNull(body.imprint_url),
    ...(logo === undefined ? {} : { logo: fileOf(logo) }),
    ...(icon === undefined ? {} : { icon: fileOf(icon) }),
  };
}

function fileOf(base64: string | null) {
  return base64 === null ? null : { file: 'The file', bytes: Buffer.from(base64, 'base64') };
}

function defaultsOf(body: BodyOf<`POST ${typeof SETTINGS}`>): SettingsRequest {
  const minutes = textOrNull(body.default_expiry_minutes);
  return {
    // A text that is not a number breaks the number's rule.
    defaultExpiryMinutes: minutes === null ? null : /^\d+$/.test(minutes) ? Number(minutes) : NaN,
    defaultCurrency: textOrNull(body.default_currency),
    defaultSuccessUrl: textOrNull(body.default_success_url),
  };
}

function pictureView(picture: Project['logo'], pathOf: (hash: string) => string): SettingsView['logo'] {
  return picture && { path: pathOf(picture.hash), width: picture.width, height: picture.height };
}

function settingsView(project: Project, logoPath: (hash: string) => string): SettingsView {
  return {
    name: project.name,
    accent: project.accent,
    support_url: project.supportUrl,
    page_text: project.pageText,
    terms_url: project.termsUrl,
    imprint_url: project.imprintUrl,
    logo: pictureView(project.logo, logoPath),
    icon: pictureView(project.icon, logoPath),
    default_expiry_minutes: project.defaultExpiryMinutes,
    default_currency: project.defaultCurrency,
    default_success_url: project.defaultSuccessUrl,
    currencies: [...FIATS],
    is_active: project.active,
    version: settingsVersion(project),
  };
}

function stopsView(stops: Stops, mode: Mode) {
  const { openPayments, endpoints, keys } = stops[mode];
  return { open_payments: openPayments, endpoints, keys };
}

function countsView({ refundReasons, ...counts }: CustomerDataCounts): CustomerDataView {
  return { ...counts, refund_reasons: refundReasons };
}
