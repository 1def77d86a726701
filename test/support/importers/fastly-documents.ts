/** Documents as the API of Fastly answers them. */

/** What every import of these documents is given. */
export const OPTIONS = { domain: null, origin: 'origin.example.net' };
/** The backend of every service. */
export const BACKEND = {
  name: 'main',
  address: 'origin.example.org',
  port: 443,
  use_ssl: true,
  override_host: 'origin.example.org',
  request_condition: '',
};

/** The active version of a service with two domains. */
export function service(objects: object): object {
  return {
    id: 's',
    active_version: {
      number: 3,
      domains: [{ name: 'www.example.com' }, { name: 'api.example.com' }],
      backends: [BACKEND],
      ...objects,
    },
  };
}

/** A service whose only response object refuses what meets the statement. */
export function refusing(statement: string, more: object = {}, response: object = {}): object {
  return service({
    conditions: [{ name: 'c', statement, type: 'REQUEST', priority: '10' }],
    response_objects: [
      { name: 'no', status: '403', response: 'Forbidden', content: '', request_condition: 'c', ...response },
    ],
    ...more,
  });
}
