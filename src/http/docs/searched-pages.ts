import { fillMarks, pagePath, type GuideSection } from './guide-pages.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import type { Site } from './plain-pages.ts';
import { objectId, routesOf } from './reference.ts';
import type { SearchedPage } from './search.ts';

/** The text of all pages: the start, the API reference and the guide. */
export function searchedPages({
  document,
  groups,
  words,
}: Pick<Site, 'document' | 'groups' | 'words'>): readonly SearchedPage[] {
  const guide = groups.flatMap(({ pages }) =>
    pages.map(({ name, title, about, sections }) => ({
      path: pagePath(name),
      title,
      about,
      sections: sections.map((section) => ({ ...section, text: fillMarks(section.text, words) })),
    })),
  );
  return [...guide, START, { ...API, sections: [...API.sections, ...referenceSections(document)] }];
}

const START: SearchedPage = {
  path: '/docs',
  title: 'Start',
  about: 'Quickstart: from a test key to a paid order',
  sections: [
    {
      id: 'quickstart',
      heading: 'Quickstart',
      text: 'Get a test key, create an order, send the customer to payment_url, and ship when the order is completed.',
    },
  ],
};

const API: SearchedPage = {
  path: '/docs/api',
  title: 'API reference',
  about: 'every endpoint, object and event of both APIs',
  sections: [
    { id: '', heading: '', text: 'Every endpoint, object and event of the Order API and the Transaction API.' },
    {
      id: 'example-retry',
      heading: 'Retry safely, without a second payment',
      text: 'Send an Idempotency-Key with every request that creates a payment. If the connection breaks, send the same request again.',
    },
    {
      id: 'signature',
      heading: 'Check the signature of a webhook',
      text: 'x-service-signature is the HMAC-SHA256 of the raw body, in several programming languages.',
    },
  ],
};

/** Rules, endpoints and objects, each a section in the words of the OpenAPI document. */
function referenceSections(document: OpenApiDocument): readonly GuideSection[] {
  const routes = document.tags.flatMap(({ name }) => routesOf(document, name));
  const objects = Object.entries(document.components.schemas);
  return [
    { id: 'basics', heading: 'Keys, limits and formats', text: plain(document.info.description) },
    ...routes.map(({ id, method, path, operation }) => ({
      id,
      heading: operation.summary,
      text: `${method} ${path} ${plain(operation.description ?? '')}`,
    })),
    ...objects.map(([name, { description, properties }]) => ({
      id: objectId(name),
      heading: name,
      text: `${plain(description ?? '')} ${Object.keys(properties ?? {}).join(', ')}`.trim(),
    })),
  ];
}

function plain(text: string): string {
  return text.replaceAll(/[`*]/g, '').replaceAll(/\s+/g, ' ');
}
