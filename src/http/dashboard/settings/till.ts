import { changeProject } from '../../../app/projects/projects.ts';
import { TIP_PERCENTS, USUAL_TILL } from '../../../domain/till.ts';
import { findProject, type Project } from '../../../store/projects/projects.ts';
import { notFound } from '../../errors.ts';
import { done } from '../refusal-words.ts';
import type { Dashboard, Routes } from '../route.ts';
import type { TillSettingsView } from './contract.ts';

const TILL = '/dashboard/api/projects/:project/settings/till';
const MANAGE = { action: 'manage_settings' } as const;

/** When a payment counts as paid at the till, and whether the till offers tips. */
export function tillSettingsRoutes(routes: Routes, { people }: Dashboard): void {
  const find = async (projectId: string): Promise<Project> => {
    const project = await findProject(people.app.db, projectId);
    if (project === null) throw notFound('There is no such project.');
    return project;
  };
  routes.add(`GET ${TILL}`, MANAGE, async ({ scope }) => viewOf(await find(scope.projectId)));
  routes.add(`POST ${TILL}`, MANAGE, async ({ scope: { projectId }, body, own }) => {
    const amount = body.seen_below.trim();
    // Kept with the currency in which the form showed it: in another one the same number would be another rule.
    const till = { seenBelow: amount === '' ? null : { amount, currency: body.currency }, tips: body.tips };
    return viewOf(done(await changeProject(own, projectId, { till })).project);
  });
}

function viewOf({ till, defaultCurrency }: Project): TillSettingsView {
  const { seenBelow, tips } = till ?? USUAL_TILL;
  return {
    seen_below: seenBelow?.amount ?? '',
    currency: seenBelow?.currency ?? defaultCurrency ?? 'USD',
    project_currency: defaultCurrency ?? 'USD',
    tips,
    tip_percents: [...TIP_PERCENTS],
  };
}
