import { element } from '../shared/dom.mjs';

/**
 * A file to download.
 *
 * @typedef {object} Order
 * @property {string} survey
 * @property {string} path of the endpoint, below the base path
 * @property {import('./api.mjs').Params} params
 * @property {'csv' | 'ndjson' | 'other'} format `csv`: the long layout; `other`: cannot be resumed
 * @property {boolean} counted whether `count=true` is accepted, so that the file's rows can be compared with `X-Total-Count`
 */

/** @typedef {ReturnType<typeof createDownloads>} Downloads */

/**
 * The downloads of an account: those in progress, and those that can be continued.
 *
 * @param {{ api: import('./api.mjs').Api, email: string }} account
 */
export function createDownloads(account) {
  void account;
  return {
    element: element('section', {}),
    /** Starts a download. @param {Order} order */
    start: (order) => void order,
    /** Stops all downloads. What has arrived stays, to be continued. */
    stop: () => {},
    /** Stops all downloads and deletes what has arrived. */
    forget: async () => {},
  };
}
