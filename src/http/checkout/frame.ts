import type { FastifyRequest } from 'fastify';
import type { Access } from '../../app/projects/access.ts';
import type { Project } from '../../store/projects/projects.ts';
import { chooseLanguage } from './language/languages.ts';
import { accentPath, logoPath } from './branding-routes.ts';
import type { Locale } from './language/locale.ts';
import type { Frame, Branding } from './view.ts';

/** A request for one of the pages. */
export interface PageRequest {
  readonly Params: { readonly id: string };
  readonly Querystring: Readonly<Record<string, unknown>>;
  readonly Body: Readonly<Record<string, unknown>> | undefined;
}

/** The visitor's language: the one in the address bar, or else the browser's. */
export function localeOf(request: Pick<FastifyRequest<PageRequest>, 'query' | 'headers'>): Locale {
  return chooseLanguage(request.query['lang'], request.headers['accept-language']);
}

/** How this visitor sees a page of this project, and which origins may frame it. */
export async function frameOf(
  access: Pick<Access, 'project'>,
  request: Pick<FastifyRequest<PageRequest>, 'query' | 'headers'>,
  projectId: string,
): Promise<{ readonly frame: Frame; readonly framedBy: readonly string[] }> {
  const project = await access.project(projectId);
  const { query } = request;
  const framedBy = project?.allowOrigins ?? [];
  const embed = framedBy.find((origin) => origin === query['embed']) ?? null;
  const frame: Frame = {
    locale: localeOf(request),
    languageGiven: typeof query['lang'] === 'string',
    branding: brandingOf(project),
    embed,
    autoRefresh: query['refresh'] !== 'off',
    watching: query['watching'] === '1',
  };
  return { frame, framedBy };
}

function brandingOf(project: Project | null): Branding {
  const { name = '', logo = null, accent = null, supportUrl = null } = project ?? {};
  return {
    projectName: name,
    logo: logo && { path: logoPath(logo.hash), width: logo.width, height: logo.height },
    accentPath: accent && accentPath(accent),
    supportUrl,
  };
}
