import { createHash } from 'node:crypto';
import {
  keepLogoDraft,
  findProject,
  PICTURES,
  type PictureName,
  type Project,
  type ProjectChanges,
} from '../../store/projects/projects.ts';
import type { App } from '../context.ts';
import { noProject, rejected, type Rejected } from '../rejected.ts';
import { checkRequest, type ProjectRequest } from './project-request.ts';
import { lockedProject, saveChecked, saveProjectChanges } from './projects.ts';

/** The fields that the settings page shows and changes together. */
export type SettingsRequest = Pick<
  ProjectRequest,
  | 'name'
  | 'accent'
  | 'supportUrl'
  | 'pageText'
  | 'termsUrl'
  | 'imprintUrl'
  | PictureName
  | 'defaultExpiryMinutes'
  | 'defaultCurrency'
  | 'defaultSuccessUrl'
>;

/** The version changes with each of the settings, whoever changes them. */
export function settingsVersion(project: Project): string {
  const { name, accent, supportUrl, logo, icon, pageText, termsUrl, imprintUrl } = project;
  const { defaultExpiryMinutes, defaultCurrency, defaultSuccessUrl } = project;
  const shown = [
    name,
    accent,
    supportUrl,
    logo?.hash ?? null,
    icon?.hash ?? null,
    pageText,
    termsUrl,
    imprintUrl,
    defaultExpiryMinutes,
    defaultCurrency,
    defaultSuccessUrl,
  ];
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64url');
}

/** Saves settings if they still have this version. */
export async function saveSettings(
  app: App,
  projectId: string,
  version: string,
  request: SettingsRequest,
): Promise<{ readonly kind: 'done'; readonly project: Project } | Rejected> {
  return saveChecked(app, request, async (trx, changes) => {
    const before = await lockedProject(trx, projectId);
    if (before === null) return noProject(projectId);
    if (settingsVersion(before) !== version) return rejected('settings_changed');
    return { kind: 'done', project: await saveProjectChanges(app, trx, before, changes) };
  });
}

/** The settings of a request as they would be stored. Only new pictures are kept for a while, to be shown. */
export async function previewSettings(
  app: App,
  projectId: string,
  request: SettingsRequest,
): Promise<{ readonly kind: 'done'; readonly project: Project; readonly changes: ProjectChanges } | Rejected> {
  const checked = checkRequest(request);
  if (checked.kind === 'rejected') return checked;
  const project = await findProject(app.db, projectId);
  if (project === null) return noProject(projectId);
  const { changes } = checked;
  for (const name of PICTURES) {
    const picture = changes[name];
    if (picture) await keepLogoDraft(app.db, projectId, picture, app.clock());
  }
  return { kind: 'done', project, changes };
}
